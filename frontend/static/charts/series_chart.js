/**
 * Base class of the charts of several series with a value axis, version marks and notes.
 *
 * `data-plot` has the `from`, `to`, `step` and `versions` of Model, `profiles` (count of each step),
 * `notes`, the `unit` of the values, and `percent` if they are shares. Texts: `data-one`, `data-many`,
 * `data-none`, `data-began`, `data-note`; `data-notes` is the URL of the notes.
 */

import { insertValues } from '../text.js';
import { formatCount, formatPercent, formatValue, roundSteps } from '../units.js';
import { drawNotes, noteRows } from './notes.js';
import { rangeText } from './times.js';
import { TimeChart } from './time_chart.js';
import { findNewVersions, drawVersions } from './versions.js';

/** @typedef {import("./uplot.js").Plot} Plot */
/** @typedef {import("./time_chart.js").Look} Look */
/** @typedef {import("./readout.js").Reading} Reading */

const VERSION_ROWS = 2; // of version names above the plot area
const PADDING = { top: 30, right: 18 }; // pixels: the rows of version names; half a label of the time axis
const DIGIT = 6.5; // pixels per character of the axis labels
const HEADROOM = 1.08; // of the value axis above the greatest value

/** @abstract */
export class SeriesChart extends TimeChart {
  /** @param {any} content of data-plot @returns {import("./time_chart.js").Model} */
  createModel(content) {
    this.content = content;
    const { from, to, step, profiles, versions } = content;
    return { from, to, step, count: profiles.length, versions };
  }

  // -- Defined by the subclasses

  /** Return the series' rows of the readout at a step with profiles. @param {number} _step @returns {Reading["rows"]} @abstract */
  seriesRows(_step) {
    throw new Error('SeriesChart.seriesRows is abstract');
  }

  // -- Drawing

  /**
   * Return the options of uPlot that all these charts share.
   * @param {Look} look
   * @param {number} greatest value that the axis reaches
   */
  seriesOptions(look, greatest) {
    const { versions, notes } = this.content;
    const { scales, cursor } = this.common();
    return {
      padding: [PADDING.top, PADDING.right, 0, 0],
      scales: { ...scales, y: { range: () => [0, greatest > 0 ? greatest * HEADROOM : 1] } },
      axes: [
        { ...this.timeAxis(look, { isCentred: true, margin: PADDING.right }), size: 24, gap: 6 },
        this.valueAxis(look),
      ],
      cursor,
      hooks: {
        setCursor: [(/** @type {Plot} */ plot) => this.point(plot)],
        draw: [
          (/** @type {Plot} */ plot) => {
            drawVersions(plot, versions, { text: look.text, line: look.muted, face: look.face }, VERSION_ROWS);
            drawNotes(this, plot, notes, look.accent, (left) => this.readTime(left));
          },
        ],
      },
    };
  }

  /** Return the options of the value axis, which has no labels without profiles. @param {Look} look */
  valueAxis(look) {
    const { profiles, percent, unit } = this.content;
    const isEmpty = !profiles.some((/** @type {number} */ count) => count);
    const values = (/** @type {Plot} */ _, /** @type {number[]} */ marks) =>
      marks.map((mark) => (isEmpty ? '' : this.valueText(mark)));
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
      incrs: percent ? undefined : roundSteps(unit),
    };
  }

  /** Format a value of a series. @param {number} value */
  valueText(value) {
    const { percent, unit } = this.content;
    return percent ? formatPercent(value, 1) : formatValue(value, unit);
  }

  // -- Readout

  /** @param {number} step @returns {Reading} */
  reading(step) {
    const { content, dataset } = this;
    const from = content.from + step * content.step;
    const n = content.profiles[step];
    const words = n === 0 ? dataset.none : n === 1 ? dataset.one : dataset.many;
    const rows = [
      ...(n ? this.seriesRows(step) : []),
      { name: insertValues(words ?? '', { n: formatCount(n) }), value: '' },
      ...findNewVersions(content.versions, from, from + content.step).map((version) => ({
        name: insertValues(dataset.began ?? '', { version }),
        value: '',
      })),
      ...noteRows(this, content.notes, from, from + content.step),
    ];
    return { when: rangeText(from, Math.min(content.to, from + content.step)), rows };
  }
}
