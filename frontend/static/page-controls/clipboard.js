/** Copying of text to the clipboard, confirmed by a toast. */

import { fadeToasts } from '../shell/toasts.js';

/** @returns {HTMLElement | null} */
function findMessages() {
  const found = document.querySelector('#said');
  return found instanceof HTMLElement ? found : null;
}

/**
 * Copy text, or select it in a field: browsers offer no clipboard on plain HTTP except localhost.
 * @param {string} text
 * @param {"name" | "stack" | "link"} what selects the page's confirmation text
 */
export async function copyText(text, what) {
  const said = findMessages();
  try {
    await navigator.clipboard.writeText(text);
    toast(said?.dataset[what] ?? '');
  } catch {
    toast(said?.dataset.byHand ?? '', text);
  }
}

/** @param {string} sentence @param {string} [text] to be copied by hand */
export function toast(sentence, text) {
  const said = findMessages();
  if (!said) return;
  const box = document.createElement('div');
  box.className = 'toast';
  box.dataset.toast = '';
  box.textContent = sentence;
  const field = text === undefined ? null : box.appendChild(document.createElement('textarea'));
  if (field) {
    field.value = text ?? '';
    field.setAttribute('aria-label', sentence);
  }
  said.replaceChildren(box);
  field?.select();
  fadeToasts(said);
}
