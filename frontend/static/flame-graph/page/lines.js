/** Cost of each source line of a function, below its row in the list. */

import { findElement } from '../../dom.js';
import { graphs } from './graph-pane.js';
import { markInvisible } from '../../text.js';
import { visit } from '../../shell/visit.js';

let shown = ''; // URL of the lines in the list
let latest = 0;

/**
 * Show the lines of a function, or remove them.
 * @param {string} name full name of the function; "" for none
 */
export async function showLines(name) {
  const list = findElement('#functions');
  const body = list?.querySelector('tbody');
  if (!list || !body) return;
  const before = body.querySelector('.lines-row');
  const row = findRow(body, name);
  const url = name ? buildUrl(list, name, row?.querySelector('.fn')?.getAttribute('data-file') ?? findFile(name)) : '';
  if (before && url === shown && before.previousElementSibling === row) return;
  before?.remove();
  const mine = ++latest;
  shown = url;
  if (!url) return;
  const [holder, panel] = made(list);
  if (row) row.after(holder);
  else body.prepend(holder);
  const html = await fetchLines(new URL(url), list.dataset.failed ?? '');
  if (mine !== latest) return;
  panel.innerHTML = html;
  holder.scrollIntoView({ block: 'nearest' });
}

/** @param {Element} body @param {string} name @returns {Element | null} */
function findRow(body, name) {
  return [...body.querySelectorAll('.fn')].find((fn) => fn.getAttribute('data-name') === name)?.closest('tr') ?? null;
}

/** Return the file of a function that the list does not show, from the graphs. @param {string} name */
function findFile(name) {
  for (const { tree } of graphs()) {
    const frame = tree ? tree.frames.name.indexOf(tree.names.indexOf(name)) : -1;
    if (tree && frame >= 0) return tree.files[tree.frames.file[frame]];
  }
  return '';
}

/** @param {HTMLElement} list @returns {[HTMLTableRowElement, HTMLElement]} a row and its content */
function made(list) {
  const row = document.createElement('tr');
  row.className = 'lines-row';
  const cell = row.insertCell();
  cell.colSpan = 6;
  const panel = document.createElement('div');
  panel.setAttribute('role', 'status');
  panel.textContent = list.dataset.wait ?? '';
  cell.append(panel);
  return [row, panel];
}

/** @param {HTMLElement} list @param {string} name @param {string} file */
function buildUrl(list, name, file) {
  const url = new URL(list.dataset.linesUrl ?? '', location.href);
  const page = findElement('#flame');
  url.search = location.search;
  for (const graphs of ['lines', 'frame', 'colour', 'search']) url.searchParams.delete(graphs);
  url.searchParams.set('service', page?.dataset.service ?? '');
  url.searchParams.set('type', page?.dataset.type ?? '');
  url.searchParams.set('name', name);
  url.searchParams.set('file', file);
  return url.href;
}

/**
 * Fetch the server's HTML; on failure return an escaped message instead.
 * @param {URL} url
 * @param {string} failed
 */
async function fetchLines(url, failed) {
  const note = document.createElement('p');
  note.textContent = failed;
  try {
    const response = await fetch(url, { credentials: 'same-origin' });
    const text = await response.text();
    if (response.ok && !response.redirected) return text;
    if ((response.headers.get('Content-Type') ?? '').startsWith('text/plain')) note.textContent = markInvisible(text);
  } catch {
    // offline: the message says so
  }
  return note.outerHTML;
}

/** @param {Document} page */
export function watchLines(page) {
  page.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('[data-close-lines]')) visit('lines', '');
  });
}
