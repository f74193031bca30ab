/**
 * `<flame-diff>`: icicle graph that compares two sets of profiles.
 *
 * Attributes: `side` ("baseline", "selected", or the mean of both: the tree that gives the widths),
 * `frame` (id of the node at full width), `real` (colour only significant changes), `relative` (compare
 * shares, which are not tested). The markup inside is the page's. Events: `diff-zoom` with the node's id; `diff-open` (a folded node was opened; its
 * caller's id); `diff-leave` (Escape at full view).
 */

import { getNodeId, nodeWithId } from '../flame-graph/tree/ids.js';
import { getLabel, buildPlainLabel } from '../flame-graph/packages/labels.js';
import { findNode, groupRows } from '../flame-graph/tree/rows.js';
import { Pin } from '../flame-graph/graph/pin.js';
import { findClippingFrame, findVisibleRows } from '../flame-graph/graph/visible-levels.js';
import { insertValues, markInvisible } from '../text.js';
import { getFile, getLine, getName } from '../flame-graph/tree/tree.js';
import { Zoom } from '../flame-graph/graph/zoom.js';
import { getText } from '../shell/texts.js';
import { formatCount, formatValue } from '../units.js';
import { formatComparison, formatInterval, isReal, getKind, computeStrength } from './differences.js';
import { paint, readPalette, ROW } from './paint.js';

/** @typedef {import("./differences.js").Differences} Differences */
/** @typedef {import("../flame-graph/tree/tree.js").Tree} Tree */

const SIGNS = { same: '', more: '+', less: '-' };
const GAP = 8;

export class FlameDiff extends HTMLElement {
  static observedAttributes = ['frame', 'real', 'relative'];

  constructor() {
    super();
    /** @type {Differences | null} */
    this.all = null;
    /** @type {import("../flame-graph/tree/rows.js").Rows | null} */
    this.rows = null;
    /** @type {Uint8Array | null} nodes that match the search */
    this.found = null;
    this.marked = -1;
    this.request = 0;
    this.zoomed = new Zoom(() => this.redraw());
    this.leaving = new AbortController();
  }

  connectedCallback() {
    this.view = part(this, '.fg-view', HTMLElement);
    this.canvas = part(this, 'canvas', HTMLCanvasElement);
    this.mark = part(this, '.mark', HTMLElement);
    this.tip = part(this, '.tip', HTMLElement);
    this.pin = new Pin(this.tip);
    this.said = part(this, '[aria-live]', HTMLElement);
    this.palette = readPalette(this);
    this.listen(this.leaving.signal);
  }

  disconnectedCallback() {
    this.leaving.abort();
    this.leaving = new AbortController();
    this.zoomed.stop();
  }

  /** @param {string} name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(name, before, now) {
    const tree = this.tree;
    if (!tree || before === now) return;
    if (name === 'frame') this.showNode(tree, nodeWithId(tree, now ?? ''));
    else this.redraw();
  }

  /** Zoom to a node on request of the page. @param {Tree} tree @param {number} node */
  showNode(tree, node) {
    if (node === this.zoomed.node) return;
    this.unmark();
    this.zoomed.show(tree, node, true);
  }

  /**
   * Dim all nodes but the search matches; null ends the search.
   * @param {Uint8Array | null} found
   */
  dim(found) {
    this.found = found;
    this.redraw();
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const view = /** @type {HTMLElement} */ (this.view);
    const redraw = () => this.redraw();
    view.addEventListener('pointermove', (event) => this.hover(event), { signal });
    view.addEventListener('pointerleave', (event) => this.leave(event), { signal });
    this.addEventListener('focusout', (event) => this.leave(event), { signal });
    view.addEventListener('click', (event) => this.choose(event), { signal });
    view.addEventListener('keydown', (event) => this.press(event), { signal });
    this.addEventListener('scroll', redraw, { signal, passive: true });
    addEventListener('scroll', redraw, { signal, passive: true });
    addEventListener('resize', redraw, { signal });
    const repaint = () => {
      this.palette = readPalette(this);
      this.redraw();
    };
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint, { signal });
    const themed = new MutationObserver(repaint);
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const resized = new ResizeObserver(redraw);
    resized.observe(this);
    signal.addEventListener('abort', () => {
      themed.disconnect();
      resized.disconnect();
    });
  }

  /** The tree that gives the widths. @returns {Tree | null} */
  get tree() {
    const side = this.getAttribute('side');
    if (!this.all) return null;
    return side === 'baseline' || side === 'selected' ? this.all[side] : this.all.mean;
  }

  /** @param {Differences} all */
  show(all) {
    this.all = all;
    const tree = /** @type {Tree} */ (this.tree);
    this.rows = groupRows(tree);
    this.view?.style.setProperty('height', `${tree.rows * ROW}px`);
    this.zoomed.show(tree, nodeWithId(tree, this.getAttribute('frame') ?? ''), false);
  }

  redraw() {
    cancelAnimationFrame(this.request);
    this.request = requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    const { tree, rows, view, canvas, palette } = this;
    const range = this.zoomed.shown;
    if (!tree || !rows || !view?.clientWidth || !canvas || !palette || range.to <= range.from) return;
    const { first, last } = findVisibleRows(view.getBoundingClientRect(), findClippingFrame(this), tree.rows);
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(view.clientWidth * ratio);
    canvas.height = Math.round((last - first) * ROW * ratio);
    canvas.style.height = `${(last - first) * ROW}px`;
    canvas.style.top = `${first * ROW}px`;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const span = { ...range, width: view.clientWidth };
    paint(context, { tree, rows, span, first, last, palette, look: (node) => this.look(node) });
    this.placeMark();
  }

  /** @param {number} node @returns {import("./paint.js").Look} */
  look(node) {
    const all = /** @type {Differences} */ (this.all);
    const grey = this.hasAttribute('real') && !isReal(all, node);
    const kind = grey ? 'same' : getKind(all, node, this.isRelative);
    const dim = this.found !== null && !this.found[node];
    const label = this.buildSignedLabel(node, this.getSign(kind));
    return { kind, strength: grey ? 0 : computeStrength(all, node, this.isRelative), label, dim };
  }

  /** Return whether colours and texts compare shares instead of averages. */
  get isRelative() {
    return this.hasAttribute('relative');
  }

  /** @param {import("./differences.js").Kind} kind */
  getSign(kind) {
    const sign = kind === 'added' || kind === 'removed' ? (this.dataset[kind] ?? '') : SIGNS[kind];
    return sign && `${sign} `;
  }

  /** @param {number} node @param {string} sign @returns {import("../text.js").Label} */
  buildSignedLabel(node, sign) {
    const { mean } = /** @type {Differences} */ (this.all);
    if (!node || mean.hidden[node]) return buildPlainLabel(this.buildText(node, sign));
    const { full, whole, narrow, leaf } = getLabel(mean, node);
    return { full, whole: sign + whole, narrow: sign + narrow, leaf: sign.length + leaf };
  }

  /** @param {number} node @param {string} sign */
  buildText(node, sign) {
    const all = /** @type {Differences} */ (this.all);
    if (all.mean.hidden[node])
      return insertValues(this.dataset.folded ?? '', { count: formatCount(all.mean.hidden[node]) });
    if (node) return `${sign}${markInvisible(getName(all.mean, node))}`;
    const totals = [all.baseline, all.selected].map((tree) => formatValue(tree.total[0], tree.unit));
    return `${sign}${markInvisible(all.mean.service)}, ${totals.join(' → ')}`;
  }

  /**
   * Return the tooltip's texts for a node.
   * @param {number} node
   * @returns {Record<string, string>}
   */
  buildTexts(node) {
    const all = /** @type {Differences} */ (this.all);
    const { baseline, selected, mean } = all;
    const none = this.dataset.none ?? '';
    const of = (/** @type {"self" | "total"} */ column) => {
      const [before, after] = [baseline, selected].map((tree) => ({
        value: column === 'self' && !node ? 0 : tree[column][node],
        whole: tree.total[0],
      }));
      return formatComparison(before, after, mean.unit, none, this.isRelative);
    };
    const [file, line] = [getFile(mean, node), getLine(mean, node)];
    return {
      name: this.buildText(node, ''),
      where: markInvisible(file && line ? `${file}:${line}` : file),
      total: insertValues(getText('total', 'total: {value}'), { value: of('total') }),
      self: insertValues(getText('self', 'self: {value}'), { value: of('self') }),
      say: this.formatVerdict(node),
    };
  }

  /** @param {number} node */
  formatVerdict(node) {
    const all = /** @type {Differences} */ (this.all);
    const interval = formatInterval(all, node);
    if (all.mean.hidden[node] || this.isRelative) return '';
    if (!interval) return node ? (this.dataset.untested ?? '') : '';
    const sentence = isReal(all, node) ? this.dataset.real : this.dataset.chance;
    const [baseline, selected] = [all.profiles.baseline, all.profiles.selected].map((count) => formatCount(count));
    return insertValues(sentence ?? '', { interval, baseline, selected });
  }

  // -- Pointing

  /** @param {MouseEvent} event */
  findNodeUnder(event) {
    const { tree, rows, view } = this;
    if (!tree || !rows || !view) return -1;
    const box = view.getBoundingClientRect();
    const { from, to } = this.zoomed.shown;
    const x = from + ((event.clientX - box.left) / box.width) * (to - from);
    return findNode(tree, rows, Math.floor((event.clientY - box.top) / ROW), x);
  }

  /** @param {PointerEvent} event */
  hover(event) {
    if (event.pointerType === 'touch' || this.pin?.approaches(event)) return;
    const node = this.findNodeUnder(event);
    if (node !== this.marked) this.pin?.set(false);
    if (node < 0) this.unmark();
    else this.point(node, event.clientX);
  }

  /**
   * Hide the tooltip when pointer or focus moves away from the graph and the tooltip.
   * @param {MouseEvent | FocusEvent} event
   */
  leave(event) {
    const to = event.relatedTarget;
    if (to instanceof Node && (this.tip?.contains(to) || (event.type === 'focusout' && this.contains(to)))) return;
    if (event instanceof PointerEvent && this.pin?.approaches(event)) return;
    this.unmark();
  }

  /** @param {MouseEvent} event */
  choose(event) {
    const node = this.findNodeUnder(event);
    if (node < 0) return;
    if (this.tree?.hidden[node]) return this.open(node);
    this.zoom(node);
    this.point(node, event.clientX);
    this.pin?.set(true);
  }

  /**
   * Request the content of a folded node: the page loads it from the server.
   * @param {number} node
   */
  open(node) {
    const { tree } = this;
    if (tree)
      this.dispatchEvent(
        new CustomEvent('diff-open', { detail: { id: getNodeId(tree, tree.parent[node]) }, bubbles: true }),
      );
  }

  /** @param {number} node @param {number} [clientX] */
  point(node, clientX) {
    const { tip, view } = this;
    if (!tip || !view) return;
    if (node !== this.marked) {
      this.marked = node;
      for (const [name, text] of Object.entries(this.buildTexts(node))) {
        const field = tip.querySelector(`[data-tip="${name}"]`);
        if (field) field.textContent = text;
      }
    }
    this.placeMark();
    this.placeTip(clientX);
  }

  unmark() {
    this.marked = -1;
    this.pin?.set(false);
    if (this.mark) this.mark.hidden = true;
    if (this.tip) this.tip.hidden = true;
  }

  /**
   * Return a node's left edge and width in the view's pixels, clipped to the view.
   * @param {number} node
   * @returns {[number, number]}
   */
  measureNode(node) {
    const { tree, view } = this;
    if (!tree || !view) return [0, 0];
    const { from, to } = this.zoomed.shown;
    const scale = view.clientWidth / (to - from);
    const left = Math.max(0, (tree.start[node] - from) * scale);
    return [left, Math.min(view.clientWidth, (tree.start[node] + tree.total[node] - from) * scale) - left];
  }

  placeMark() {
    const { mark, tree, marked } = this;
    if (!mark || !tree) return;
    mark.hidden = marked < 0;
    if (marked < 0) return;
    const [left, width] = this.measureNode(marked);
    mark.style.left = `${left}px`;
    mark.style.width = `${Math.max(2, width)}px`;
    mark.style.top = `${tree.depth[marked] * ROW - 1}px`;
  }

  /**
   * Place the tooltip below the frame, or above it if there is no room.
   * @param {number} [clientX]
   */
  placeTip(clientX) {
    const { tip, view, tree, marked } = this;
    if (!tip || !view || !tree) return;
    tip.hidden = false;
    const [host, box, seen] = [this.getBoundingClientRect(), view.getBoundingClientRect(), findClippingFrame(this)];
    const top = box.top + tree.depth[marked] * ROW;
    const under = top + ROW + GAP;
    const fits = under + tip.offsetHeight <= seen.bottom || top - GAP - tip.offsetHeight < seen.top;
    const y = fits ? under : top - GAP - tip.offsetHeight;
    const x = Math.min((clientX ?? box.left + this.measureNode(marked)[0]) + 16, box.right - tip.offsetWidth);
    tip.style.left = `${Math.max(box.left, x) - host.left + this.scrollLeft}px`;
    tip.style.top = `${y - host.top + this.scrollTop}px`;
  }

  // -- Keys and zoom

  /** @param {KeyboardEvent} event */
  press(event) {
    const { tree } = this;
    if (!tree || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = Math.max(0, this.marked);
    const to = this.findTarget(tree, at, event.key);
    if (to >= 0) this.reach(to);
    else if (event.key === 'Enter' && tree.hidden[at]) this.open(at);
    else if (event.key === 'Enter') this.zoom(at);
    else if (event.key === 'Escape' && !this.zoomed.node)
      this.dispatchEvent(new CustomEvent('diff-leave', { bubbles: true }));
    else if (event.key === 'Escape' || event.key === 'Home') this.zoom(0);
    else return;
    event.preventDefault();
  }

  /**
   * @param {Tree} tree
   * @param {number} at
   * @param {string} key
   * @returns {number} the node the key moves to; -1 for other keys
   */
  findTarget(tree, at, key) {
    if (key === 'ArrowUp') return Math.max(0, tree.parent[at]);
    if (key === 'ArrowDown') return tree.end[at] > at + 1 ? at + 1 : at;
    if (key === 'ArrowRight')
      return tree.end[at] < tree.n && tree.depth[tree.end[at]] === tree.depth[at] ? tree.end[at] : at;
    if (key !== 'ArrowLeft') return -1;
    let before = at;
    for (let node = tree.parent[at] + 1; node < at; node = tree.end[node]) before = node;
    return before;
  }

  /** @param {number} node */
  reach(node) {
    const { tree, said, view } = this;
    if (!tree || !said || !view) return;
    const { from, to } = this.zoomed.shown;
    if (tree.start[node] >= to || tree.start[node] + tree.total[node] <= from) this.zoom(tree.parent[node]);
    const top = tree.depth[node] * ROW;
    const [seen, least] = [
      this.getBoundingClientRect().top - view.getBoundingClientRect().top,
      top + 2 * ROW - this.clientHeight,
    ];
    if (top < seen || seen < least) this.scrollTo({ top: top < seen ? top : least });
    this.point(node);
    this.pin?.set(true);
    const { name, total, say } = this.buildTexts(node);
    said.textContent = `${name}, ${total}. ${say}`;
  }

  /** @param {number} node */
  zoom(node) {
    const { tree } = this;
    if (!tree || node < 0 || node === this.zoomed.node || tree.hidden[node] || tree.total[node] <= 0) return;
    this.zoomed.show(tree, node, true);
    this.dispatchEvent(new CustomEvent('diff-zoom', { detail: { id: getNodeId(tree, node) }, bubbles: true }));
  }
}

/**
 * @template {Element} T
 * @param {Element} root
 * @param {string} selector
 * @param {new () => T} type
 * @returns {T}
 */
function part(root, selector, type) {
  const found = root.querySelector(selector);
  if (!(found instanceof type)) throw new Error(`<flame-diff> has no ${selector}`);
  return found;
}

customElements.define('flame-diff', FlameDiff);
