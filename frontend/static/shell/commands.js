// Keys and buttons that open the command palette; its script is loaded when it is first opened.

import { isServiceSearch } from './controls.js';
import { importOrNotify } from './lazy.js';

/** @param {Document} page */
export function watchCommands(page) {
  page.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    if (!page.querySelector('#palette') || page.querySelector('dialog[open]:not(#palette)')) return;
    event.preventDefault();
    void open();
  });
  page.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('[data-open-palette]')) void open();
  });
  page.addEventListener('change', ({ target }) => {
    if (!isServiceSearch(target)) return;
    for (const option of target.options) option.selected = option.defaultSelected;
    void open(target);
  });
}

/** @param {HTMLSelectElement | null} menu of services */
async function open(menu = null) {
  const palette = await importOrNotify(() => import('../palette/palette.js'));
  palette?.openPalette(menu);
}
