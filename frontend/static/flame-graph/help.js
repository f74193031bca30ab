/** The list of all keys, which a page has as a dialog. */

export function showKeys() {
  const dialog = document.querySelector('#keys');
  if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
}

/** @param {Document} page */
export function watchHelp(page) {
  page.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('[data-show-keys]')) showKeys();
  });
}

/** Whether a key is for whoever types, or moves in a menu. @param {KeyboardEvent} event */
export function isForOthers({ target, ctrlKey, metaKey, altKey }) {
  const typing = target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select, dialog, [role=menu]');
  return ctrlKey || metaKey || altKey || Boolean(typing);
}
