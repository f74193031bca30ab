/** Behaviour of a page with time charts: filters, links, selection of a range, and keyboard shortcuts. */

import { watchChips } from '../page-controls/chips.js';
import { isForeignKey, showKeys, watchHelp } from '../page-controls/help.js';
import { copyLink, watchLinks } from '../page-controls/links.js';
import { watchRanges } from './ranges.js';

/** @type {Record<string, () => void>} */
const SHORTCUTS = { y: () => copyLink('absolute'), '?': showKeys };

/** @param {Document} page */
export function watchChartPage(page) {
  watchChips(page);
  watchHelp(page);
  watchLinks(page);
  watchRanges(page);
  page.addEventListener('keydown', (event) => {
    if (isForeignKey(event) || !SHORTCUTS[event.key]) return;
    event.preventDefault();
    SHORTCUTS[event.key]();
  });
}
