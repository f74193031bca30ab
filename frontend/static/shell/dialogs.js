// Dialogs: makes <dialog data-dialog open>, which works without scripts, modal.

/** @param {ParentNode} root */
function raise(root) {
  for (const dialog of root.querySelectorAll('dialog[data-dialog][open]')) {
    if (!(dialog instanceof HTMLDialogElement) || dialog.matches(':modal')) continue;
    dialog.removeAttribute('open');
    dialog.showModal();
    dialog.addEventListener('close', () => dialog.remove());
  }
}

/** @param {Document} page */
export function watchDialogs(page) {
  raise(page);
  page.addEventListener('htmx:afterSwap', () => raise(page));
}
