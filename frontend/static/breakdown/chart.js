/**
 * `<breakdown-chart>`: a metric over time, stacked by the values of a label.
 *
 * `data-plot` has the `from`, `to`, `step` and `versions` of Model, and `profiles` of each step,
 * `values` (of each series by step, null without profiles; stacked in this order), `names`, `unit`
 * and `others`: if it is not 0, the last series is the sum of so many values. Texts: `data-one`,
 * `data-many`, `data-none`, `data-all`, `data-other`, `data-began`, `data-note`; `data-notes` is the URL of the notes.
 */

import { TimeChart } from '../charts/time_chart.js';
import { drawNotes, noteRows } from '../charts/notes.js';
import { rangeText } from '../charts/times.js';
import { library } from '../charts/uplot.js';
import { begunIn, drawVersions } from '../charts/versions.js';
import { filled, harmless } from '../flame-graph/text.js';
import { coloursOf } from '../shell/theming.js';
import { formatCount, formatValue, roundSteps } from '../units.js';
import { stacked } from './stack.js';

/** @typedef {import("../charts/uplot.js").Plot} Plot */

const TOP = 30; // pixels: two rows of version names
const COLOURS = 5; // each plain, then hatched
const HATCH = 6; // pixels from line to line
const DIGIT = 6.5; // pixels per character of the axis labels

class BreakdownChart extends TimeChart {
  /** @param {any} plot @returns {import("../charts/time_chart.js").Model} */
  modelOf(plot) {
    this.course = plot;
    return { from: plot.from, to: plot.to, step: plot.step, count: plot.profiles.length, versions: plot.versions };
  }

  /** @param {any} plot @param {import("../charts/time_chart.js").Look} look */
  drawing(plot, look) {
    const times = plot.profiles.map((/** @type {number} */ _, /** @type {number} */ i) => plot.from + i * plot.step);
    const sums = stacked(plot.values);
    const paths = library().paths.bars({ size: [0.9, Infinity], align: 1 });
    const fills = this.fills(plot);
    const [surface] = coloursOf(this, ['surface']);
    // The highest sums are drawn first; each lower one covers its part of them.
    const series = sums.map((_, i) => ({
      paths,
      fill: fills[i],
      stroke: surface,
      width: 1,
      points: { show: false },
    }));
    const most = Math.max(0, ...(sums[sums.length - 1] ?? []).map((value) => value ?? 0));
    const options = {
      padding: [TOP, 18, 0, 0],
      scales: { ...this.common().scales, y: { range: () => [0, most > 0 ? most * 1.08 : 1] } },
      series: [{}, ...series.reverse()],
      axes: [{ ...this.timeAxis(look), align: undefined, size: 24, gap: 6 }, this.scale(look)],
      cursor: { ...this.common().cursor, points: { show: false } },
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
    return { data: [times, ...sums.reverse()], options };
  }

  /** Return the fill of each series. @param {any} plot @returns {(string | (() => CanvasPattern | string))[]} */
  fills(plot) {
    const tokens = Array.from({ length: COLOURS }, (_, i) => `stack-${i + 1}`);
    const colours = coloursOf(this, [...tokens, 'stack-other', 'surface']);
    const [other, surface] = colours.splice(COLOURS);
    return plot.values.map((/** @type {unknown} */ _, /** @type {number} */ i) => {
      if (i >= plot.names.length) return other;
      return i < COLOURS ? colours[i] : () => hatched(colours[i % COLOURS], surface);
    });
  }

  /** @param {import("../charts/time_chart.js").Look} look */
  scale(look) {
    const values = (/** @type {Plot} */ _, /** @type {number[]} */ marks) =>
      marks.map((mark) => formatValue(mark, this.course.unit));
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
      incrs: roundSteps(this.course.unit),
    };
  }

  /** @param {number} step @returns {import("../charts/readout.js").Reading} */
  reading(step) {
    const { course, dataset } = this;
    const [from, n] = [course.from + step * course.step, course.profiles[step]];
    const words = n === 0 ? dataset.none : n === 1 ? dataset.one : dataset.many;
    /** @type {import("../charts/readout.js").Reading["rows"]} */
    const rows = [];
    if (n) {
      let sum = 0;
      course.values.forEach((/** @type {(number | null)[]} */ values, /** @type {number} */ i) => {
        const value = values[step] ?? 0;
        sum += value;
        const isOther = i >= course.names.length;
        const name = isOther
          ? filled(dataset.other ?? '', { n: formatCount(course.others) })
          : harmless(course.names[i]);
        if (value) rows.push({ name, value: this.worth(value), swatch: `stack-${isOther ? 'other' : i + 1}` });
      });
      rows.push({ name: dataset.all ?? '', value: this.worth(sum) });
    }
    rows.push({ name: filled(words ?? '', { n: formatCount(n) }), value: '' });
    for (const version of begunIn(course.versions, from, from + course.step)) {
      rows.push({ name: filled(dataset.began ?? '', { version }), value: '' });
    }
    rows.push(...noteRows(this, course.notes, from, from + course.step));
    return { when: rangeText(from, Math.min(course.to, from + course.step)), rows };
  }

  /** @param {number} value */
  worth(value) {
    return formatValue(value, this.course.unit);
  }
}

/**
 * @param {string} colour
 * @param {string} ground
 * @returns {CanvasPattern | string} lines of the colour from the lower left to the upper right
 */
function hatched(colour, ground) {
  const size = HATCH * Math.max(1, Math.round(devicePixelRatio || 1));
  const tile = document.createElement('canvas');
  tile.width = tile.height = size;
  const context = tile.getContext('2d');
  if (!context) return colour;
  context.fillStyle = ground;
  context.fillRect(0, 0, size, size);
  context.strokeStyle = colour;
  context.lineWidth = size / 2;
  context.beginPath();
  for (const shift of [-size, 0, size]) {
    context.moveTo(shift - 1, size + 1);
    context.lineTo(shift + size + 1, -1);
  }
  context.stroke();
  return context.createPattern(tile, 'repeat') ?? colour;
}

customElements.define('breakdown-chart', BreakdownChart);
