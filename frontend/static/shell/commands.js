// Keys and buttons that open the command palette; its script is loaded when it is first opened.

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
}

async function open() {
  const palette = await importOrNotify(() => import('../palette/palette.js'));
  palette?.openPalette();
}
