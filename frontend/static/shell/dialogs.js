// <dialog data-dialog open> works as it is; here it becomes modal: focus inside, Esc closes, the page behind at rest.

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
