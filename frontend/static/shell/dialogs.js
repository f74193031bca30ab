// Dialogs: makes <dialog data-dialog open>, which works without scripts, modal.

/** Make the open dialogs of a part of the page modal. @param {ParentNode} root */
export function raiseDialogs(root) {
  for (const dialog of root.querySelectorAll('dialog[data-dialog][open]')) {
    if (!(dialog instanceof HTMLDialogElement) || dialog.matches(':modal')) continue;
    dialog.removeAttribute('open');
    const opener = document.activeElement;
    dialog.showModal();
    // It has the focus now. htmx would move it there again a little later, while a person goes on.
    for (const focused of dialog.querySelectorAll('[autofocus]')) focused.removeAttribute('autofocus');
    dialog.addEventListener('close', () => {
      dialog.remove();
      focusAgain(opener);
    });
  }
}

/** Focus the element that opened a dialog, or the button of its menu, which has closed. @param {Element | null} opener */
function focusAgain(opener) {
  const menu = opener?.closest('details[data-menu]:not([open])')?.querySelector('summary');
  const target = menu ?? opener;
  if (target instanceof HTMLElement) target.focus();
}

/** @param {Document} page */
export function watchDialogs(page) {
  raiseDialogs(page);
  page.addEventListener('htmx:afterSwap', () => raiseDialogs(page));
}
