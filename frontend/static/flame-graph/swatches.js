/** Colour swatches in the function list, by package as in the graph. */

import { PACKAGE_TOKENS, packageOf, slotOf } from './packages.js';

// rows painted per animation frame, so that a list of thousands does not block the page
const GROUP = 400;

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
