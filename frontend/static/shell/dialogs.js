// Dialogs: makes <dialog data-dialog open>, which works without scripts, modal.

/** @param {ParentNode} root */
function raise(root) {
  for (const dialog of root.querySelectorAll('dialog[data-dialog][open]')) {
    if (!(dialog instanceof HTMLDialogElement) || dialog.matches(':modal')) continue;
    dialog.removeAttribute('open');
    const opener = document.activeElement;
    dialog.showModal();
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
  raise(page);
  page.addEventListener('htmx:afterSwap', () => raise(page));
}
