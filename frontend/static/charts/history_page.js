/** History page: charts, filters and keyboard shortcuts. */

import './history_chart.js';
import { watchChips } from '../flame-graph/chips.js';
import { isForOthers, showKeys, watchHelp } from '../flame-graph/help.js';
import { copyLink, watchLinks } from '../flame-graph/links.js';
import { watchRanges } from './ranges.js';

watchChips(document);
watchHelp(document);
watchLinks(document);
watchRanges(document);

/** @type {Record<string, () => void>} */
const DEEDS = { y: () => copyLink('absolute'), '?': showKeys };

document.addEventListener('keydown', (event) => {
  if (isForOthers(event) || !DEEDS[event.key]) return;
  event.preventDefault();
  DEEDS[event.key]();
});
