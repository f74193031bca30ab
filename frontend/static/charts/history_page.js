/** The page of history: its charts, its filters, and its keys. */

import './history_chart.js';
import { watchChips, watchFilterForm } from '../flame-graph/chips.js';
import { goTo } from '../flame-graph/going.js';
import { isForOthers, showKeys, watchHelp } from '../flame-graph/help.js';
import { copyLink, watchLinks } from '../flame-graph/links.js';

watchChips(document);
watchFilterForm(document);
watchHelp(document);
watchLinks(document);

/** @type {Record<string, () => void>} */
const DEEDS = { y: () => copyLink('absolute'), '?': showKeys };

document.addEventListener('keydown', (event) => {
  if (isForOthers(event) || !DEEDS[event.key]) return;
  event.preventDefault();
  DEEDS[event.key]();
});

// A range that is dragged over is shown.
document.addEventListener('chart-range', (event) => {
  const range = event instanceof CustomEvent ? event.detail : null;
  if (!range) return;
  goTo((parameters) => {
    for (const name of ['span', 'end', 'at', 'step']) parameters.delete(name);
    parameters.set('from', range.from);
    parameters.set('to', range.to);
  });
});
