/** Copies text, and says so at the foot of the window. */

import { fadeToasts } from '../shell/toasts.js';

/** @returns {HTMLElement | null} */
function sayer() {
  const found = document.querySelector('#said');
  return found instanceof HTMLElement ? found : null;
}

/**
 * Browsers have no clipboard on plain http but for localhost: there a field with the text is selected.
 * @param {string} text
 * @param {"name" | "stack" | "link"} what the page has the words for each
 */
export async function copyText(text, what) {
  const said = sayer();
  try {
    await navigator.clipboard.writeText(text);
    toast(said?.dataset[what] ?? '');
  } catch {
    toast(said?.dataset.byHand ?? '', text);
  }
}

/** @param {string} sentence @param {string} [text] what is to be copied by hand */
export function toast(sentence, text) {
  const said = sayer();
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
