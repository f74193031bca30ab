/** Dialog with the cost of each source line of a function. */

import { element } from './around.js';
import { harmless } from './text.js';

/** @param {string} name @param {string} file */
export async function showLines(name, file) {
  const dialog = element('#lines');
  const body = dialog?.querySelector('[data-lines]');
  const page = element('#flame');
  if (!(dialog instanceof HTMLDialogElement) || !body) return;
  const url = new URL(dialog.dataset.url ?? '', location.href);
  url.search = location.search;
  url.searchParams.set('service', page?.dataset.service ?? '');
  url.searchParams.set('type', page?.dataset.type ?? '');
  url.searchParams.set('name', name);
  url.searchParams.set('file', file);
  body.textContent = dialog.dataset.wait ?? '';
  dialog.showModal();
  body.innerHTML = await fetched(url, dialog.dataset.failed ?? '');
}

/**
 * Fetch the server's HTML; on failure return an escaped message instead.
 * @param {URL} url
 * @param {string} failed
 */
async function fetched(url, failed) {
  const note = document.createElement('p');
  note.textContent = failed;
  try {
    const response = await fetch(url, { credentials: 'same-origin' });
    const text = await response.text();
    if (response.ok && !response.redirected) return text;
    if ((response.headers.get('Content-Type') ?? '').startsWith('text/plain')) note.textContent = harmless(text);
  } catch {
    // offline: the message says so
  }
  return note.outerHTML;
}
