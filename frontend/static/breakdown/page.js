/** Breakdown page: chart, filters, choice of two values to compare, and keyboard shortcuts. */

import './chart.js';
import { watchRanges } from '../charts/ranges.js';
import { watchChips } from '../flame-graph/chips.js';
import { isForOthers, showKeys, watchHelp } from '../flame-graph/help.js';
import { copyLink, watchLinks } from '../flame-graph/links.js';
import { watchPicks } from './picks.js';

watchChips(document);
watchHelp(document);
watchLinks(document);
watchPicks(document);
watchRanges(document);

/** @type {Record<string, () => void>} */
const DEEDS = { y: () => copyLink('absolute'), '?': showKeys };

document.addEventListener('keydown', (event) => {
  if (isForOthers(event) || !DEEDS[event.key]) return;
  event.preventDefault();
  DEEDS[event.key]();
});
