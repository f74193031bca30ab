/** The colour of each function in the list: that of its package in the graph. */

import { PACKAGE_TOKENS, packageOf, slotOf } from './packages.js';

const GROUP = 400; // rows painted at a time, so that a list of thousands doesn't hold the page up

/** @param {ParentNode} root */
export function paintSwatches(root) {
  const rows = [...root.querySelectorAll('.fn[data-name]')];
  const paint = () => {
    for (const row of rows.splice(0, GROUP)) paintOne(row);
    if (rows.length) requestAnimationFrame(paint);
  };
  paint();
}

/** @param {Element} row */
function paintOne(row) {
  const swatch = row.querySelector('.sw');
  if (!swatch || !(row instanceof HTMLElement)) return;
  const token = PACKAGE_TOKENS[slotOf(packageOf(row.dataset.name ?? '', row.dataset.file ?? ''))];
  swatch.className = `sw p-${token.replace('-', '')}`;
}
