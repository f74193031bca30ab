/**
 * `<profile-strip>`: values over time as lines, the numbers of profiles as faint bars behind them,
 * with the selected range marked.
 *
 * `data-plot` has the `from`, `to`, `step` and `versions` of Model, and `counts`, `names`, `values`
 * (of each series by step, null without profiles), `unit`, `selected`, and `changes`, by version:
 * the sign of a significant change of the last series, or 0, and `notes`. Texts: `data-one`, `data-many`,
 * `data-none`, `data-began`, `data-more`, `data-less`, `data-note`; `data-notes` is the URL of the notes.
 */

import { insertValues, markInvisible } from '../text.js';
import { readColours } from '../shell/theming.js';
import { formatCount, formatValue } from '../units.js';
import { drawNotes, noteRows } from './notes.js';
import { rangeText } from './times.js';
import { findLonePoints, TimeChart } from './time_chart.js';
import { library } from './uplot.js';
import { findNewVersions, drawVersions } from './versions.js';

/** @typedef {import("./uplot.js").Plot} Plot */

const TOP = { full: 16, strip: 12 }; // pixels for the version names
const LEAST_HEIGHT = 60; // pixels of a chart with axes; a lower one is a strip of lines and bars
const BARS = 0.4; // of the height, for the bar of the most profiles
const DASHES = [[], [6, 3]];
const COLOURS = [3, 1]; // numbers of the series' colours
/** @type {Record<number, string>} */
const ARROWS = { 1: '▲ ', [-1]: '▼ ' };
const GRIP = { width: 8, height: 16, radius: 3 };

class ProfileStrip extends TimeChart {
  /** @param {any} plot @returns {import("./time_chart.js").Model} */
  createModel(plot) {
    this.bars = plot;
    return { from: plot.from, to: plot.to, step: plot.step, count: plot.counts.length, versions: plot.versions };
  }

  /** @returns {[number, number] | null} */
  get selected() {
    return this.bars?.selected ?? null;
  }

  /** @param {any} plot @param {import("./time_chart.js").Look} look */
  drawing(plot, look) {
    const [bar, base, ...strokes] = readColours(this, ['strip-bar', 'line-strong', 'series-3', 'series-1']);
    const isStrip = this.clientHeight < LEAST_HEIGHT;
    const middle = (/** @type {number} */ _, /** @type {number} */ i) => plot.from + (i + 0.5) * plot.step;
    const times = plot.counts.map(middle);
    const bars = library().paths.bars({ size: [0.77, Infinity] });
    const lines = plot.values.map((/** @type {unknown} */ _, /** @type {number} */ i) => ({
      stroke: strokes[i],
      dash: DASHES[i],
      width: 2,
      scale: 'y',
      points: { show: true, size: 4, fill: strokes[i], filter: findLonePoints },
    }));
    const counts = { paths: bars, fill: bar, width: 0, scale: 'profiles', points: { show: false } };
    const mostProfiles = Math.max(1, ...plot.counts);
    const most = Math.max(0, ...plot.values.flat());
    const options = {
      padding: [isStrip ? TOP.strip : TOP.full, 0, 0, 0],
      scales: {
        ...this.common().scales,
        y: { range: () => [0, most > 0 ? most * 1.12 : 1] },
        profiles: { range: () => [0, mostProfiles / BARS] },
      },
      series: [{}, counts, ...lines],
      axes: [
        { ...this.timeAxis(look), show: !isStrip, border: { show: true, stroke: base, width: 1 } },
        { show: false },
      ],
      cursor: { ...this.common().cursor, points: { size: 7 } },
      hooks: {
        setCursor: [(/** @type {Plot} */ made) => this.point(made)],
        drawAxes: [(/** @type {Plot} */ made) => !isStrip && this.drawAxis(made, most, look)],
        draw: [
          (/** @type {Plot} */ made) => {
            this.mark(made, look);
            drawVersions(made, this.keyVersions(), { text: look.text, line: look.muted, face: look.face }, 1);
            drawNotes(this, made, plot.notes, look.accent, (left) => this.readTime(left));
          },
        ],
      },
    };
    const counted = plot.counts.map((/** @type {number} */ n) => n || null);
    return { data: [times, counted, ...plot.values], options };
  }

  /** Return the versions, with an arrow before those of a significant change. */
  keyVersions() {
    const { versions, changes } = this.bars;
    return versions.map(
      (/** @type {[number, string]} */ [time, name], /** @type {number} */ i) =>
        /** @type {[number, string]} */ ([time, `${ARROWS[Math.sign(changes[i])] ?? ''}${name}`]),
    );
  }

  /**
   * Draw the value axis: zero at the foot, and a line at the greatest value, with its text.
   * @param {Plot} plot
   * @param {number} most
   * @param {import("./time_chart.js").Look} look
   */
  drawAxis(plot, most, look) {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio || 1;
    const left = bbox.left + 2 * ratio;
    ctx.save();
    ctx.font = `${11 * ratio}px ${look.face}`;
    ctx.fillStyle = look.line;
    const y = Math.round(plot.valToPos(most, 'y', true));
    if (most > 0) ctx.fillRect(bbox.left, y, bbox.width, ratio);
    ctx.fillStyle = look.muted;
    ctx.textBaseline = 'top';
    if (most > 0) ctx.fillText(formatValue(most, this.bars.unit), left, y + 3 * ratio);
    ctx.textBaseline = 'bottom';
    ctx.fillText('0', left, bbox.top + bbox.height - 2 * ratio);
    ctx.restore();
  }

  /**
   * Draw the selected range with handles on its edges.
   * @param {Plot} plot
   * @param {import("./time_chart.js").Look} look
   */
  mark(plot, look) {
    if (!this.selected) return;
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio || 1;
    const [left, right] = this.selected.map((time) => plot.valToPos(time, 'x', true));
    const [surface] = readColours(this, ['surface']);
    ctx.save();
    ctx.fillStyle = ctx.strokeStyle = look.accent;
    ctx.lineWidth = 1.5 * ratio;
    ctx.globalAlpha = 0.09;
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
    ctx.globalAlpha = 1;
    ctx.fillRect(left, bbox.top, ratio, bbox.height);
    ctx.fillRect(right - ratio, bbox.top, ratio, bbox.height);
    ctx.fillStyle = surface;
    const half = (GRIP.width / 2) * ratio;
    const first = Math.max(bbox.left + half, left);
    for (const x of [first, Math.min(bbox.left + bbox.width - half, right)]) {
      ctx.beginPath();
      ctx.roundRect(
        x - half,
        bbox.top + (bbox.height - GRIP.height * ratio) / 2,
        2 * half,
        GRIP.height * ratio,
        GRIP.radius * ratio,
      );
      ctx.fill();
      ctx.stroke();
    }
    ctx.restore();
  }

  /** @param {number} step @returns {import("./readout.js").Reading} */
  reading(step) {
    const { bars, dataset } = this;
    const [from, n] = [bars.from + step * bars.step, bars.counts[step]];
    /** @type {import("./readout.js").Reading["rows"]} */
    const rows = bars.names.flatMap((/** @type {string} */ name, /** @type {number} */ i) => {
      const value = bars.values[i][step];
      return value == null
        ? []
        : [{ name: markInvisible(name), value: formatValue(value, bars.unit), number: COLOURS[i] }];
    });
    const words = n === 0 ? dataset.none : n === 1 ? dataset.one : dataset.many;
    rows.push({ name: insertValues(words ?? '', { n: formatCount(n) }), value: '' });
    for (const version of findNewVersions(bars.versions, from, from + bars.step)) {
      rows.push({ name: insertValues(dataset.began ?? '', { version }), value: '' });
      const sign = bars.changes[bars.versions.findIndex((/** @type {[number, string]} */ each) => each[1] === version)];
      if (sign)
        rows.push({ name: insertValues((sign > 0 ? dataset.more : dataset.less) ?? '', { version }), value: '' });
    }
    rows.push(...noteRows(this, bars.notes, from, from + bars.step));
    return { when: rangeText(from, from + bars.step), rows };
  }
}

customElements.define('profile-strip', ProfileStrip);
