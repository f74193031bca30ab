/** Navigation to a range selected on a chart of the page. */

import { visit } from '../shell/visit.js';

/** @param {Document} page */
export function watchRanges(page) {
  page.addEventListener('chart-range', (event) => {
    const range = event instanceof CustomEvent ? event.detail : null;
    if (range) visit('range', [range.from, range.to]);
  });
}
