/**
 * `<breakdown-chart>`: a metric over time, stacked by the values of a label.
 *
 * `data-plot` has the properties of SeriesChart, and `values` (of each series by step, null without
 * profiles; stacked in this order), `names` and `others`: if it is not 0, the last series is the sum
 * of so many values. Further texts: `data-all`, `data-other`.
 */

import { SeriesChart } from '../charts/series_chart.js';
import { library } from '../charts/uplot.js';
import { insertValues, markInvisible } from '../text.js';
import { readColours } from '../shell/theming.js';
import { formatCount } from '../units.js';
import { stackValues } from './stack.js';

const COLOURS = 5; // each plain, then hatched
const HATCH = 6; // pixels from line to line

class BreakdownChart extends SeriesChart {
  /** @param {any} content @param {import("../charts/time_chart.js").Look} look */
  drawing(content, look) {
    const times = content.profiles.map(
      (/** @type {number} */ _, /** @type {number} */ i) => content.from + i * content.step,
    );
    const sums = stackValues(content.values);
    const paths = library().paths.bars({ size: [0.9, Infinity], align: 1 });
    const fills = this.fills(content);
    const [surface] = readColours(this, ['surface']);
    // The highest sums are drawn first; each lower one covers its part of them.
    const series = sums.map((_, i) => ({
      paths,
      fill: fills[i],
      stroke: surface,
      width: 1,
      points: { show: false },
    }));
    const greatest = Math.max(0, ...(sums[sums.length - 1] ?? []).map((value) => value ?? 0));
    const shared = this.seriesOptions(look, greatest);
    const cursor = { ...shared.cursor, points: { show: false } };
    return { data: [times, ...sums.reverse()], options: { ...shared, series: [{}, ...series.reverse()], cursor } };
  }

  /** Return the fill of each series. @param {any} content @returns {(string | (() => CanvasPattern | string))[]} */
  fills(content) {
    const tokens = Array.from({ length: COLOURS }, (_, i) => `stack-${i + 1}`);
    const colours = readColours(this, [...tokens, 'stack-other', 'surface']);
    const [other, surface] = colours.splice(COLOURS);
    return content.values.map((/** @type {unknown} */ _, /** @type {number} */ i) => {
      if (i >= content.names.length) return other;
      return i < COLOURS ? colours[i] : () => createHatchPattern(colours[i % COLOURS], surface);
    });
  }

  /** @param {number} step @returns {import("../charts/readout.js").Reading["rows"]} */
  seriesRows(step) {
    const { names, others, values } = this.content;
    const { other, all } = this.dataset;
    let sum = 0;
    const rows = values.flatMap((/** @type {(number | null)[]} */ ofSteps, /** @type {number} */ i) => {
      const value = ofSteps[step] ?? 0;
      sum += value;
      const isOther = i >= names.length;
      const name = isOther ? insertValues(other ?? '', { n: formatCount(others) }) : markInvisible(names[i]);
      return value ? [{ name, value: this.valueText(value), swatch: `stack-${isOther ? 'other' : i + 1}` }] : [];
    });
    return [...rows, { name: all ?? '', value: this.valueText(sum) }];
  }
}

/**
 * @param {string} colour
 * @param {string} ground
 * @returns {CanvasPattern | string} lines of the colour from the lower left to the upper right
 */
function createHatchPattern(colour, ground) {
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
