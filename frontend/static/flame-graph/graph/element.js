/**
 * `<flame-graph>`: icicle graph on a canvas, root at the top.
 *
 * The markup inside (view, canvas, mark, tip) is the page's. Attributes: `src` (URL of a tree),
 * `side` (callers or callees: the tree to show of a focused function), `colour` (package, self,
 * total), `frame` (id of the node at full width), `recursion` (folded), `flip` (root at the
 * bottom). Events: `flame-load`, `flame-error`, `flame-zoom`, `flame-wait`, `flame-open` (a folded
 * node was opened; its caller's id), `flame-choose` (a frame was chosen, or none: -1), `flame-match` (a
 * match was clicked on the map of a search), `flame-leave` (Escape at full view), `flame-foot` and
 * `flame-top` (keys move below the callers, above the callees: into the other graph).
 */

import { watchTheme } from '../../shell/theming.js';
import { formatCount, formatPercent, formatValue } from '../../units.js';
import { readColourBy, chooseColours, chooseSearchColours } from '../packages/colours.js';
import { ROW_HEIGHT } from './draw.js';
import { getNodeId, nodeWithId } from '../tree/ids.js';
import { onKey } from './keyboard.js';
import { getLabel, buildPlainLabel } from '../packages/labels.js';
import { LoadError } from '../tree/load.js';
import { MatchMap } from './match-map.js';
import { Picture } from './picture.js';
import { Pointing } from './marked-frame.js';
import { foldRecursion } from '../tree/recursion.js';
import { RootAnchor } from './root-anchor.js';
import { isCallers, countLevels, getRowLine, findNode, groupRows } from '../tree/rows.js';
import { insertValues } from '../../text.js';
import { TreeLoader } from '../tree/tree-loader.js';
import { getName, readTree } from '../tree/tree.js';
import { Zoom } from './zoom.js';

/** @typedef {import("../tree/tree.js").Tree} Tree */

export class FlameGraph extends HTMLElement {
  static observedAttributes = ['src', 'side', 'colour', 'frame', 'recursion', 'flip'];

  constructor() {
    super();
    /** @type {(Pick<import("./picture.js").Drawn, "tree" | "rows" | "colours">) | null} */
    this.data = null;
    // immediately: in the next frame it would lag by one frame
    this.zoomed = new Zoom(() => this.drawNow());
    this.frameRequest = 0;
    this.gone = new AbortController();
    this.loader = new TreeLoader({
      wait: () => this.tell('flame-wait', {}),
      take: (tree) => this.take(tree),
      fail: (error) => this.fail(error),
    });
    /** @type {Tree | null} as loaded, with recursion */
    this.whole = null;
    this.chosenId = ''; // id of the chosen frame
    /** @type {Uint8Array | null} nodes that match the search */
    this.found = null;
    this.anchor = new RootAnchor(this);
  }

  connectedCallback() {
    this.gone = new AbortController();
    const { signal } = this.gone;
    const view = part(this, '.fg-view', HTMLElement);
    this.view = view;
    this.picture = new Picture(this, view, part(this, 'canvas', HTMLCanvasElement));
    const [mark, tip] = [part(this, '.mark', HTMLElement), part(this, '.tip', HTMLElement)];
    this.pointing = new Pointing(this, view, mark, tip, this.querySelector('[aria-live]'));
    const map = this.querySelector('svg.match-map');
    if (map instanceof SVGSVGElement) {
      this.map = new MatchMap(this, view, map, (node) => this.tell('flame-match', { node }));
    }
    this.listen(view, signal);
    if (this.data) this.redraw();
    void this.load();
  }

  disconnectedCallback() {
    this.gone.abort();
    this.loader.stop();
    this.zoomed.stop();
    cancelAnimationFrame(this.frameRequest);
  }

  /** @param {string} name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(name, before, now) {
    if (!this.isConnected || before === now || !this.view) return;
    if (name === 'src' || name === 'side') void this.load();
    else if (name === 'recursion') this.whole && this.take(this.whole);
    else if (name === 'flip') this.mirror();
    else if (name === 'colour') this.recolour();
    else if (this.data) this.showFrame(nodeWithId(this.data.tree, now ?? ''));
  }

  /** @param {HTMLElement} view @param {AbortSignal} signal */
  listen(view, signal) {
    const redraw = () => this.redraw();
    view.addEventListener('pointermove', (event) => this.hover(event), { signal });
    view.addEventListener('pointerleave', () => this.leave(), { signal });
    view.addEventListener('click', (event) => this.pick(event), { signal });
    view.addEventListener('keydown', (event) => this.press(event), { signal });
    this.addEventListener('scroll', redraw, { signal, passive: true });
    addEventListener('scroll', redraw, { signal, passive: true });
    addEventListener('resize', redraw, { signal });
    this.anchor.watch(signal);
    const resized = new ResizeObserver(redraw);
    resized.observe(this);
    signal.addEventListener('abort', () => resized.disconnect());
    watchTheme(() => {
      this.picture?.repaint();
      this.redraw();
    }, signal);
  }

  // -- Data

  /** Return whether the tree of the current `src` has still to be loaded. */
  get isLoading() {
    const source = this.getAttribute('src');
    return source !== null && source !== this.loader.source;
  }

  load() {
    return this.loader.load(this.getAttribute('src'), this.getAttribute('side') ?? '');
  }

  /** Tell the page why a tree cannot be loaded; throw any other error. @param {unknown} error */
  fail(error) {
    this.releaseRoom();
    if (!(error instanceof LoadError)) throw error;
    this.tell('flame-error', { reason: error.reason, detail: error.detail });
  }

  /** Show a tree that the caller already has. @param {import("../tree/tree.js").WireTree} wire */
  showTree(wire) {
    this.take(readTree(wire));
  }

  /** @param {Tree} whole */
  take(whole) {
    const tree = this.hasAttribute('recursion') ? foldRecursion(whole) : whole;
    this.whole = whole;
    this.found = null;
    const frameId = this.getAttribute('frame') ?? '';
    const node = nodeWithId(tree, frameId);
    const chosenId = this.chosenId || frameId;
    const colours = chooseColours(tree, readColourBy(this.getAttribute('colour')));
    this.data = { tree, rows: groupRows(tree), colours };
    this.measure(tree);
    this.anchor.restore();
    this.zoomed.show(tree, node, false);
    this.choose(nodeWithId(tree, chosenId) || -1);
    this.tell('flame-load', { tree, node, missing: Boolean(frameId) && node === 0 });
  }

  /** Set the graph's height; a callers' graph without callers is hidden. @param {Tree} tree */
  measure(tree) {
    const levels = countLevels(tree, isCallers(this));
    this.view?.style.setProperty('height', `${levels * ROW_HEIGHT}px`);
    this.view?.toggleAttribute('hidden', levels === 0);
    this.releaseRoom();
  }

  /** Remove the placeholder that has the graph's height until a tree is loaded. */
  releaseRoom() {
    this.view?.querySelector('.room')?.remove();
  }

  /** Show the same levels after the root moved to the other end. */
  mirror() {
    if (this.data) this.pointing?.unmark(this.buildMarkedView(this.data));
    this.anchor.mirror();
    this.redraw();
  }

  /** @param {string} name @param {object} detail */
  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
  }

  // -- Drawing

  recolour() {
    if (!this.data) return;
    const { tree } = this.data;
    const by = readColourBy(this.getAttribute('colour'));
    this.data.colours = this.found ? chooseSearchColours(tree, this.found) : chooseColours(tree, by);
    this.redraw();
  }

  /**
   * Dim all nodes but the search matches; null ends the search.
   * @param {Uint8Array | null} found
   */
  dim(found) {
    this.found = found;
    this.recolour();
  }

  /** Schedule one redraw for the next animation frame. */
  redraw() {
    cancelAnimationFrame(this.frameRequest);
    this.frameRequest = requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    cancelAnimationFrame(this.frameRequest);
    if (!this.data || !this.picture) return;
    this.picture.draw(this.buildDrawing(this.data));
    this.pointing?.moveTo(this.buildMarkedView(this.data));
    this.map?.draw(this.buildMarkedView(this.data), this.found);
  }

  /** @param {NonNullable<FlameGraph["data"]>} data @returns {import("./picture.js").Drawn} */
  buildDrawing(data) {
    return { ...data, range: this.zoomed.shown, found: this.found, label: (node) => this.getLabel(data.tree, node) };
  }

  /** @param {NonNullable<FlameGraph["data"]>} data @returns {import("./marked-frame.js").Shown} */
  buildMarkedView(data) {
    return { tree: data.tree, range: this.zoomed.shown, node: this.zoomed.node, flip: this.flip };
  }

  get tree() {
    return this.data?.tree ?? null;
  }

  get flip() {
    return this.hasAttribute('flip');
  }

  /** @param {Tree} tree @param {number} node @returns {import("../../text.js").Label} */
  getLabel(tree, node) {
    if (tree.hidden[node])
      return buildPlainLabel(insertValues(this.dataset.folded ?? '{count}', { count: formatCount(tree.hidden[node]) }));
    if (node) return getLabel(tree, node);
    const root = getLabel(tree, 0).whole;
    return buildPlainLabel(`${root}, ${formatValue(tree.total[0] / tree.profiles, tree.unit)}, 100%`);
  }

  /**
   * The boxes drawn for the visible levels, as data for tests.
   * @returns {{name: string, label: string, share: string, row: number, x: number, width: number, count: number}[]}
   */
  get boxes() {
    const { data, picture } = this;
    if (!data || !picture) return [];
    const { tree } = data;
    return picture.boxes(this.buildDrawing(data)).map(({ node, ...box }) => ({
      ...box,
      name: getName(tree, node),
      label: this.getLabel(tree, node).whole,
      share: formatPercent(tree.total[node], tree.total[0]),
    }));
  }

  // -- Pointing

  /** @param {MouseEvent} event @returns {number} the node under the pointer, or -1 */
  findNodeUnder(event) {
    if (!this.data || !this.view) return -1;
    const box = this.view.getBoundingClientRect();
    const { from, to } = this.zoomed.shown;
    const x = from + ((event.clientX - box.left) / box.width) * (to - from);
    const line = Math.floor((event.clientY - box.top) / ROW_HEIGHT);
    const row = getRowLine(this.data.tree, line, this.flip);
    return findNode(this.data.tree, this.data.rows, row, x);
  }

  /** @param {PointerEvent} event */
  hover(event) {
    if (event.pointerType === 'touch' || !this.data) return;
    const node = this.findNodeUnder(event);
    if (node < 0) this.pointing?.unmark(this.buildMarkedView(this.data));
    else this.pointing?.mark(this.buildMarkedView(this.data), node, event.clientX);
  }

  /** Hide the tooltip when the pointer leaves the graph. */
  leave() {
    if (this.data) this.pointing?.unmark(this.buildMarkedView(this.data));
  }

  /** @param {MouseEvent} event */
  pick(event) {
    const node = this.findNodeUnder(event);
    if (node < 0 || !this.data) return;
    if (this.data.tree.hidden[node]) return this.open(node);
    this.choose(node === 0 && !this.data.tree.base ? -1 : node);
    this.zoom(node);
  }

  /** Choose a frame, or none, and tell the page, which shows its values. @param {number} node -1 for none */
  choose(node) {
    if (!this.data) return;
    const { tree } = this.data;
    this.pointing?.choose(this.buildMarkedView(this.data), node);
    this.chosenId = node < 0 ? '' : getNodeId(tree, node);
    this.tell('flame-choose', { tree, node, view: this.zoomed.node });
  }

  /** Zoom to the frame in the URL, and choose it. @param {number} node */
  showFrame(node) {
    if (node === this.zoomed.node) return;
    this.choose(node || -1);
    this.show(node, true);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (!this.data) return;
    const at = Math.max(0, this.pointing?.marked ?? 0);
    if (event.key === 'ArrowUp' && at === 0 && !this.flip) {
      this.tell('flame-top', {});
      // the focus moved to the other graph
      if (document.activeElement !== this.view) return event.preventDefault();
    }
    const mark = (/** @type {number} */ node) => this.reach(node);
    const { tree, rows } = this.data;
    const zoom = (/** @type {number} */ node) => (tree.hidden[node] ? this.open(node) : this.zoom(node));
    onKey(event, { tree, rows, at, mark, zoom, out: () => this.out(), flip: this.flip });
  }

  /** Step back: zoom out fully, or leave the current view if it is zoomed out already. */
  out() {
    if (this.zoomed.node) this.zoom(0);
    else this.tell('flame-leave', {});
  }

  /**
   * Request the content of a folded node: the page loads it from the server.
   * @param {number} node
   */
  open(node) {
    const tree = this.data?.tree;
    if (tree) this.tell('flame-open', { tree, id: getNodeId(tree, tree.parent[node]) });
  }

  /** Mark a frame, bring it into sight, and announce it to screen readers. @param {number} node */
  reach(node) {
    const { data, pointing } = this;
    if (!data || !pointing) return;
    const { tree } = data;
    if (node === 0 && countLevels(tree, isCallers(this)) < tree.rows) return this.tell('flame-foot', {});
    if (!this.covers(node)) this.zoom(tree.parent[node]);
    this.see(node);
    pointing.say(this.buildMarkedView(data), node);
  }

  /** Return whether a frame is within the zoomed range. @param {number} node */
  covers(node) {
    const { from, to } = this.zoomed.shown;
    const tree = this.data?.tree;
    return Boolean(tree && tree.start[node] < to && tree.start[node] + tree.total[node] > from);
  }

  /** Choose a frame and scroll to it, without zooming. @param {number} node */
  see(node) {
    if (!this.data) return;
    this.pointing?.bringIntoSight(this.buildMarkedView(this.data), node);
    this.choose(node);
  }

  // -- Zooming

  /**
   * Zoom on request of the user, and tell the page so that it can update its URL.
   * @param {number} node
   */
  zoom(node) {
    const tree = this.data?.tree;
    if (!tree || node === this.zoomed.node || tree.hidden[node]) return;
    this.show(node, true);
    this.tell('flame-zoom', { tree, node, id: getNodeId(tree, node) });
  }

  /** @param {number} node @param {boolean} slide animate the transition */
  show(node, slide) {
    if (!this.data || node === this.zoomed.node) return;
    this.zoomed.show(this.data.tree, node, slide);
    this.pointing?.refill(this.buildMarkedView(this.data));
    this.tell('flame-choose', { tree: this.data.tree, node: this.pointing?.chosen ?? -1, view: node });
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
  if (!(found instanceof type)) throw new Error(`<flame-graph> has no ${selector}`);
  return found;
}
