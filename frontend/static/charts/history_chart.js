/**
 * `<history-chart>`: cost of functions over time, one series each.
 *
 * `data-plot` has the properties of SeriesChart, and `lines` (values by step, null without profiles)
 * with their `names`. The cursor is synchronised between all charts of the page.
 */

import { readColours } from '../shell/theming.js';
import { SeriesChart } from './series_chart.js';
import { findLonePoints } from './time_chart.js';

const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3], []];

class HistoryChart extends SeriesChart {
  /** @param {any} content @param {import("./time_chart.js").Look} look */
  drawing(content, look) {
    const strokes = readColours(
      this,
      DASHES.map((_, i) => `series-${i + 1}`),
    );
    const times = content.profiles.map(
      (/** @type {number} */ _, /** @type {number} */ i) => content.from + (i + 0.5) * content.step,
    );
    const series = content.lines.map((/** @type {unknown} */ _, /** @type {number} */ i) => ({
      stroke: strokes[i % DASHES.length],
      dash: DASHES[i % DASHES.length],
      width: 2,
      points: { show: true, size: 4, fill: strokes[i % DASHES.length], filter: findLonePoints },
    }));
    const shared = this.seriesOptions(look, Math.max(0, ...content.lines.flat()));
    const cursor = { ...shared.cursor, points: { size: 7 }, sync: { key: 'history' } };
    return { data: [times, ...content.lines], options: { ...shared, series: [{}, ...series], cursor } };
  }

  /** @param {number} step @returns {import("./readout.js").Reading["rows"]} */
  seriesRows(step) {
    const { names, lines } = this.content;
    return names.map((/** @type {string} */ name, /** @type {number} */ i) => ({
      name,
      value: this.valueText(lines[i][step] ?? 0),
      number: (i % DASHES.length) + 1,
    }));
  }
}

customElements.define('history-chart', HistoryChart);
