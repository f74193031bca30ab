/**
 * Base class of the time charts: uPlot with a readout at the cursor and range selection.
 *
 * Subclasses define what is drawn and what the readout shows. Ranges are selected by dragging or
 * with the keyboard; colours are the page's. Attribute: `data-plot`, JSON with at least the
 * properties of Model; a change redraws the chart. Events: `chart-range`, whose detail has `from`
 * and `to` (RFC 3339), and `chart-step` for a clicked step, whose detail has `at` (seconds).
 */

import { readColours, watchTheme } from '../shell/theming.js';
import { watchDrags } from './dragging.js';
import { Readout } from './readout.js';
import { axisText, momentText } from './times.js';
import { library } from './uplot.js';

/** @typedef {import("./uplot.js").Plot} Plot */

/**
 * @typedef {object} Model times are seconds since 1970
 * @property {number} from
 * @property {number} to
 * @property {number} step
 * @property {number} count number of steps; the first starts at `from`
 * @property {import("./versions.js").Version[]} versions
 */

/** @typedef {Record<"text" | "muted" | "line" | "accent" | "face", string>} Look */

const LABEL_PIXELS = 11; // font size of the time axis
const GRIP = 6; // pixels on either side of an edge that can be dragged

/** @abstract */
export class TimeChart extends HTMLElement {
  static observedAttributes = ['data-plot'];

  constructor() {
    super();
    /** @type {Plot | null} */
    this.plot = null;
    /** @type {Model | null} */
    this.model = null;
    /** @type {Readout | null} */
    this.readout = null;
    this.at = -1; // step reached with the keyboard
    this.anchorStep = -1; // step where a keyboard selection started
    this.gone = new AbortController();
    this.drawn = new AbortController();
  }

  connectedCallback() {
    this.gone = new AbortController();
    const { signal } = this.gone;
    this.readout ??= new Readout(this);
    this.draw();
    watchTheme(() => this.draw(), signal);
    const resized = new ResizeObserver(() => this.fit());
    resized.observe(this);
    signal.addEventListener('abort', () => resized.disconnect());
    this.addEventListener('keydown', (event) => this.press(event), { signal });
    this.addEventListener('blur', () => this.rest(), { signal });
  }

  disconnectedCallback() {
    this.gone.abort();
    this.drawn.abort();
    this.plot?.destroy();
    this.plot = null;
  }

  attributeChangedCallback() {
    if (this.isConnected && this.readout) this.draw();
  }

  // -- Defined by the subclasses

  /** @param {any} _plot content of data-plot @returns {Model} @abstract */
  createModel(_plot) {
    throw new Error('TimeChart.modelOf is abstract');
  }

  /**
   * Return uPlot's data and options.
   * @param {any} _plot
   * @param {Look} _look
   * @returns {{data: (number | null)[][], options: object}}
   * @abstract
   */
  drawing(_plot, _look) {
    throw new Error('TimeChart.drawing is abstract');
  }

  /** @param {number} _step @returns {import("./readout.js").Reading} @abstract */
  reading(_step) {
    throw new Error('TimeChart.reading is abstract');
  }

  // -- Drawing

  draw() {
    if (!this.dataset.plot || !this.clientWidth) return;
    const parsed = JSON.parse(this.dataset.plot);
    this.model = this.createModel(parsed);
    this.rest();
    this.plot?.destroy();
    this.drawn.abort();
    this.drawn = new AbortController();
    const [text, muted, line, accent] = readColours(this, ['text', 'muted', 'line', 'accent']);
    const face = getComputedStyle(this).fontFamily;
    const { data, options } = this.drawing(parsed, { text, muted, line, accent, face });
    this.plot = new (library())({ ...this.common(), ...options }, data, this);
    watchDrags(this.plot.over, this.drags(this.plot), this.drawn.signal);
  }

  common() {
    const { from, to } = /** @type {Model} */ (this.model);
    return {
      width: this.clientWidth,
      height: this.clientHeight,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      scales: { x: { time: true, range: () => [from, to] } },
    };
  }

  /**
   * Return the options of the time axis; labels that the right edge of the chart would cut are omitted.
   * @param {Look} look
   * @param {{isCentred?: boolean, margin?: number}} [labels] centred on their times instead of beginning there;
   *   pixels right of the plot area
   */
  timeAxis(look, { isCentred = false, margin = 0 } = {}) {
    const { from, to } = /** @type {Model} */ (this.model);
    const values = (
      /** @type {Plot} */ plot,
      /** @type {number[]} */ marks,
      /** @type {number} */ _axis,
      /** @type {number} */ _space,
      /** @type {number} */ step,
    ) => {
      const width = plot.bbox.width / (devicePixelRatio || 1);
      return marks.map((mark) => {
        const text = axisText(mark, step, to - from);
        const room = (width * (to - mark)) / (to - from) + margin;
        const needed = measureWidth(plot.ctx, text, `${LABEL_PIXELS}px ${look.face}`) * (isCentred ? 0.5 : 1);
        return needed <= room ? text : '';
      });
    };
    return {
      stroke: look.muted,
      font: `${LABEL_PIXELS}px ${look.face}`,
      grid: { show: false },
      ticks: { show: false },
      align: isCentred ? undefined : 1,
      size: 18,
      gap: 3,
      space: 90,
      values,
    };
  }

  fit() {
    const { clientWidth: width, clientHeight: height } = this;
    if (!this.plot) this.draw();
    else if (width && this.plot.height !== height) this.draw();
    else if (width && this.plot.root.clientWidth !== width) this.plot.setSize({ width, height });
  }

  // -- Readout

  /** @param {number} left in pixels of the plot area @returns {number} the step there, or -1 */
  findStep(left) {
    const { plot, model } = this;
    if (!plot || !model || left < 0) return -1;
    return Math.min(model.count - 1, Math.max(0, Math.floor((plot.posToVal(left, 'x') - model.from) / model.step)));
  }

  /** Handle uPlot's setCursor hook: the cursor moved or left the chart. @param {Plot} plot */
  point(plot) {
    const step = plot === this.plot ? this.findStep(plot.cursor.left) : -1;
    if (step < 0) this.readout?.hide();
    else this.readout?.show(this.reading(step), plot.over.offsetLeft + plot.cursor.left);
  }

  /** Show the readout at a position, for a mark that has focus; hide it for -1. @param {number} left */
  readTime(left) {
    const { plot } = this;
    const step = this.findStep(left);
    if (plot && step >= 0) this.readout?.show(this.reading(step), plot.over.offsetLeft + left);
    else this.readout?.hide();
  }

  /** Clear the readout and the keyboard selection. */
  rest() {
    this.at = -1;
    this.anchorStep = -1;
    this.readout?.hide();
    this.plot?.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.plot?.setCursor({ left: -10, top: -10 });
  }

  // -- Selection

  /**
   * The currently selected range, whose edges can be dragged, in seconds.
   * @returns {[number, number] | null}
   */
  get selected() {
    return null;
  }

  /** @param {Plot} plot @returns {import("./dragging.js").Drags} */
  drags(plot) {
    const second = (/** @type {number} */ x) => plot.posToVal(x, 'x');
    const cleared = () => plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    return {
      anchor: (x) => this.anchor(plot, x),
      show: (left, right) => this.cover(plot, left, right),
      choose: (left, right) => this.choose(second(left), second(right)),
      click: (x) => this.pick(this.findStep(x)),
      end: cleared,
    };
  }

  /** @param {Plot} plot @param {number} x */
  anchor(plot, x) {
    const edges = (this.selected ?? []).map((time) => plot.valToPos(time, 'x'));
    if (edges.length === 2 && Math.abs(x - edges[0]) <= GRIP) return edges[1];
    return edges.length === 2 && Math.abs(x - edges[1]) <= GRIP ? edges[0] : x;
  }

  /** @param {Plot} plot @param {number} left @param {number} right */
  cover(plot, left, right) {
    plot.setSelect({ left, top: 0, width: right - left, height: plot.over.clientHeight }, false);
  }

  /** @param {number} from seconds since 1970 @param {number} to */
  choose(from, to) {
    const detail = { from: momentText(from), to: momentText(to) };
    if (detail.from !== detail.to) this.dispatchEvent(new CustomEvent('chart-range', { detail, bubbles: true }));
  }

  /** @param {number} step */
  pick(step) {
    if (!this.model || step < 0) return;
    const detail = { at: this.model.from + step * this.model.step };
    this.dispatchEvent(new CustomEvent('chart-step', { detail, bubbles: true }));
  }

  // -- Keys: arrows read steps, Shift extends a selection, Enter applies it, or picks the step

  /** @param {KeyboardEvent} event */
  press(event) {
    const { model, at, anchorStep } = this;
    if (!model || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = model.count - 1;
    /** @type {Record<string, number>} */
    const goals = {
      ArrowLeft: at < 0 ? last : Math.max(0, at - 1),
      ArrowRight: at < 0 ? 0 : Math.min(last, at + 1),
      Home: 0,
      End: last,
    };
    if (event.key in goals) this.reach(goals[event.key], event.shiftKey);
    else if (event.key === 'Enter' && anchorStep >= 0) this.choose(...this.stretch(model));
    else if (event.key === 'Enter' && at >= 0) this.pick(at);
    else if (event.key === 'Escape' && at >= 0) this.rest();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {number} step @param {boolean} selecting */
  reach(step, selecting) {
    const { plot, model } = this;
    if (!plot || !model) return;
    this.anchorStep = selecting ? (this.anchorStep < 0 ? Math.max(0, this.at) : this.anchorStep) : -1;
    this.at = step;
    const [from, to] = selecting ? this.stretch(model) : [0, 0];
    const x = (/** @type {number} */ time) => plot.valToPos(time, 'x');
    if (selecting) this.cover(plot, x(from), x(to));
    else this.cover(plot, 0, 0);
    plot.setCursor({ left: x(model.from + (step + 0.5) * model.step), top: 1 });
    this.readout?.say(this.reading(step));
  }

  /**
   * Return the range selected with the keyboard, in seconds.
   * @param {Model} model
   * @returns {[number, number]}
   */
  stretch(model) {
    const [first, last] = [Math.min(this.anchorStep, this.at), Math.max(this.anchorStep, this.at)];
    return [model.from + first * model.step, Math.min(model.to, model.from + (last + 1) * model.step)];
  }
}

/**
 * Return the width of a text in CSS pixels.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {string} font
 */
function measureWidth(context, text, font) {
  context.save();
  context.font = font;
  const { width } = context.measureText(text);
  context.restore();
  return width;
}

/**
 * Return points between two gaps, which no line reaches, so that they are drawn as dots.
 * @param {{data: (number | null)[][]}} plot
 * @param {number} series
 * @returns {number[]}
 */
export function findLonePoints({ data }, series) {
  const line = data[series];
  return line.flatMap((value, i) => (value != null && line[i - 1] == null && line[i + 1] == null ? [i] : []));
}
