/**
 * `<profile-strip>`: bar chart of the number of profiles over time, with the selected range marked.
 *
 * `data-plot` has the `from`, `to`, `step` and `versions` of Model, and `counts`, `means`, `unit`,
 * `selected`. Texts: `data-one`, `data-many`, `data-none`, `data-mean`, `data-began`.
 */

import { filled } from '../flame-graph/text.js';
import { coloursOf } from '../shell/theming.js';
import { formatCount, formatValue } from '../units.js';
import { rangeText } from './times.js';
import { TimeChart } from './time_chart.js';
import { library } from './uplot.js';
import { begunIn, drawVersions } from './versions.js';

/** @typedef {import("./uplot.js").Plot} Plot */

const TOP = 16; // pixels for the version names
const GRIP = { width: 8, height: 16, radius: 3 };

class ProfileStrip extends TimeChart {
  /** @param {any} plot @returns {import("./time_chart.js").Model} */
  modelOf(plot) {
    this.bars = plot;
    return { from: plot.from, to: plot.to, step: plot.step, count: plot.counts.length, versions: plot.versions };
  }

  /** @returns {[number, number] | null} */
  get selected() {
    return this.bars?.selected ?? null;
  }

  /** @param {any} plot @param {import("./time_chart.js").Look} look */
  drawing(plot, look) {
    const [bar, chosen, base] = coloursOf(this, ['strip-bar', 'strip-in', 'line-strong']);
    const times = plot.counts.map((/** @type {number} */ _, /** @type {number} */ i) => plot.from + i * plot.step);
    const inside = times.map((/** @type {number} */ time) => this.isInside(time + plot.step / 2));
    const split = (/** @type {boolean} */ which) =>
      plot.counts.map((/** @type {number} */ n, /** @type {number} */ i) => (n && inside[i] === which ? n : null));
    const paths = library().paths.bars({ size: [0.77, Infinity], align: 1 });
    const series = (/** @type {string} */ fill) => ({ paths, fill, width: 0, points: { show: false } });
    const most = Math.max(1, ...plot.counts);
    const options = {
      padding: [TOP, 0, 0, 0],
      scales: { ...this.common().scales, y: { range: () => [0, most] } },
      series: [{}, series(bar), series(chosen)],
      axes: [{ ...this.timeAxis(look), border: { show: true, stroke: base, width: 1 } }, { show: false }],
      cursor: { ...this.common().cursor, points: { show: false } },
      hooks: {
        setCursor: [(/** @type {Plot} */ made) => this.point(made)],
        draw: [
          (/** @type {Plot} */ made) => {
            this.mark(made, look);
            drawVersions(made, plot.versions, { text: look.text, line: look.muted, face: look.face }, 1);
          },
        ],
      },
    };
    return { data: [times, split(false), split(true)], options };
  }

  /** @param {number} time */
  isInside(time) {
    const [from, to] = this.selected ?? [0, 0];
    return time >= from && time <= to;
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
    const [surface] = coloursOf(this, ['surface']);
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
    const words = n === 0 ? dataset.none : n === 1 ? dataset.one : dataset.many;
    const rows = [{ name: filled(words ?? '', { n: formatCount(n) }), value: '' }];
    if (n) rows.push({ name: dataset.mean ?? '', value: formatValue(bars.means[step], bars.unit) });
    for (const version of begunIn(bars.versions, from, from + bars.step)) {
      rows.push({ name: filled(dataset.began ?? '', { version }), value: '' });
    }
    return { when: rangeText(from, from + bars.step), rows };
  }
}

customElements.define('profile-strip', ProfileStrip);
