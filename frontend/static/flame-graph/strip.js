/** The chart of profiles over time: the range that is chosen on it becomes the one that is selected. */

import { askFor } from './answers.js';

/** @param {Document} page */
export function watchStrip(page) {
  page.addEventListener('chart-range', (event) => {
    const range = event instanceof CustomEvent ? event.detail : null;
    if (!range) return;
    void askFor((parameters) => {
      for (const name of ['span', 'end', 'at', 'profile']) parameters.delete(name);
      parameters.set('from', range.from);
      parameters.set('to', range.to);
    });
  });
}
