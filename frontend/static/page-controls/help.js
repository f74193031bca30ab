/** Dialog with the list of keyboard shortcuts. */

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

/**
 * Return whether a key belongs to a field, dialog or menu, or is a browser shortcut.
 * @param {KeyboardEvent} event
 */
export function isForeignKey({ target, ctrlKey, metaKey, altKey }) {
  const typing =
    target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select, dialog, [role=menu]');
  return ctrlKey || metaKey || altKey || Boolean(typing);
}
