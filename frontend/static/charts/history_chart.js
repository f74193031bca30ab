/**
 * `<history-chart>`: cost of functions over time, one series each.
 *
 * `data-plot` has the `from`, `to`, `step` and `versions` of Model, and `profiles` of each step,
 * `lines` (values by step, null without profiles), `names`, `unit`, and `percent`. The cursor is
 * synchronised between all charts of the page. Texts: `data-one`, `data-many`, `data-none`,
 * `data-began`, `data-note`; `data-notes` is the URL of the notes.
 */

import { filled } from '../flame-graph/text.js';
import { coloursOf } from '../shell/theming.js';
import { formatCount, formatPercent, formatValue, roundSteps } from '../units.js';
import { drawNotes, noteRows } from './notes.js';
import { rangeText } from './times.js';
import { lonely, TimeChart } from './time_chart.js';
import { begunIn, drawVersions } from './versions.js';

/** @typedef {import("./uplot.js").Plot} Plot */

const TOP = 30; // pixels: two rows of version names
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3], []];
const DIGIT = 6.5; // pixels per character of the axis labels

class HistoryChart extends TimeChart {
  /** @param {any} plot @returns {import("./time_chart.js").Model} */
  modelOf(plot) {
    this.course = plot;
    return { from: plot.from, to: plot.to, step: plot.step, count: plot.profiles.length, versions: plot.versions };
  }

  /** @param {any} plot @param {import("./time_chart.js").Look} look */
  drawing(plot, look) {
    const strokes = coloursOf(
      this,
      DASHES.map((_, i) => `series-${i + 1}`),
    );
    const times = plot.profiles.map(
      (/** @type {number} */ _, /** @type {number} */ i) => plot.from + (i + 0.5) * plot.step,
    );
    const series = plot.lines.map((/** @type {unknown} */ _, /** @type {number} */ i) => ({
      stroke: strokes[i % DASHES.length],
      dash: DASHES[i % DASHES.length],
      width: 2,
      points: { show: true, size: 4, fill: strokes[i % DASHES.length], filter: lonely },
    }));
    const most = Math.max(0, ...plot.lines.flat());
    const options = {
      padding: [TOP, 18, 0, 0],
      scales: {
        ...this.common().scales,
        y: {
          range: (/** @type {Plot} */ _, /** @type {number} */ __, /** @type {number} */ top) => [
            0,
            most > 0 ? top * 1.08 : 1,
          ],
        },
      },
      series: [{}, ...series],
      axes: [{ ...this.timeAxis(look), align: undefined, size: 24, gap: 6 }, this.scale(look)],
      cursor: { ...this.common().cursor, points: { size: 7 }, sync: { key: 'history' } },
      hooks: {
        setCursor: [(/** @type {Plot} */ made) => this.point(made)],
        draw: [
          (/** @type {Plot} */ made) => {
            drawVersions(made, plot.versions, { text: look.text, line: look.muted, face: look.face }, 2);
            drawNotes(this, made, plot.notes, look.accent, (left) => this.readAt(left));
          },
        ],
      },
    };
    return { data: [times, ...plot.lines], options };
  }

  /** @param {import("./time_chart.js").Look} look */
  scale(look) {
    const isEmpty = !this.course.profiles.some((/** @type {number} */ count) => count);
    const values = (/** @type {Plot} */ _, /** @type {number[]} */ marks) =>
      marks.map((mark) => (isEmpty ? '' : this.worth(mark)));
    const size = (/** @type {Plot} */ _, /** @type {string[] | null} */ texts) =>
      Math.ceil(Math.max(24, ...(texts ?? []).map((text) => text.length * DIGIT)) + 10);
    return {
      stroke: look.muted,
      font: `11px ${look.face}`,
      grid: { stroke: look.line, width: 1 },
      ticks: { show: false },
      gap: 8,
      space: 36,
      size,
      values,
      incrs: this.course.percent ? undefined : roundSteps(this.course.unit),
    };
  }

  /** @param {number} value */
  worth(value) {
    return this.course.percent ? formatPercent(value, 1) : formatValue(value, this.course.unit);
  }

  /** @param {number} step @returns {import("./readout.js").Reading} */
  reading(step) {
    const { course, dataset } = this;
    const [from, n] = [course.from + step * course.step, course.profiles[step]];
    const words = n === 0 ? dataset.none : n === 1 ? dataset.one : dataset.many;
    /** @type {import("./readout.js").Reading["rows"]} */
    const rows = [];
    if (n) {
      course.names.forEach((/** @type {string} */ name, /** @type {number} */ i) => {
        rows.push({
          name,
          value: this.worth(course.lines[i][step] ?? 0),
          number: (i % DASHES.length) + 1,
        });
      });
    }
    rows.push({ name: filled(words ?? '', { n: formatCount(n) }), value: '' });
    for (const version of begunIn(course.versions, from, from + course.step)) {
      rows.push({ name: filled(dataset.began ?? '', { version }), value: '' });
    }
    rows.push(...noteRows(this, course.notes, from, from + course.step));
    return { when: rangeText(from, Math.min(course.to, from + course.step)), rows };
  }
}

customElements.define('history-chart', HistoryChart);
