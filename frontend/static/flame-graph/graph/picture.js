/** Canvas over the visible levels, in device pixels. */

import { emitRowBoxes } from './boxes.js';
import { draw, ROW_HEIGHT } from './draw.js';
import { readPalette } from './palette.js';
import { Pixels } from './pixels.js';
import { isCallers, countLevels, getRowLine } from '../tree/rows.js';
import { findClippingFrame, findVisibleRows } from './visible-levels.js';

/** @typedef {import("../tree/tree.js").Tree} Tree */
/** @typedef {import("../tree/rows.js").Rows} Rows */

/**
 * @typedef {object} Drawn
 * @property {Tree} tree
 * @property {Rows} rows
 * @property {Uint8Array} colours
 * @property {{from: number, to: number}} range visible range, in the unit of total
 * @property {Uint8Array | null} found [n] nodes that match the search; null without a search
 * @property {(node: number) => import("../../text.js").Label} label
 */

/** @typedef {{node: number, row: number, x: number, width: number, count: number}} PlacedBox CSS pixels */

export class Picture {
  /**
   * @param {HTMLElement} host the scrolling element
   * @param {HTMLElement} view as tall as the whole graph
   * @param {HTMLCanvasElement} canvas
   */
  constructor(host, view, canvas) {
    this.host = host;
    this.view = view;
    this.canvas = canvas;
    this.palette = readPalette(host);
    this.pixels = new Pixels();
  }

  /** Return whether the root is at the bottom. */
  get flip() {
    return this.host.hasAttribute('flip');
  }

  /** Read the colours again after a change of the theme. */
  repaint() {
    this.palette = readPalette(this.host);
  }

  /** @param {Drawn} drawn */
  draw({ tree, rows, colours, range, label, found }) {
    const width = this.view.clientWidth;
    if (!width || range.to <= range.from) return;
    const { first, last } = this.findVisibleRows(tree);
    const context = this.fit(width, first, last);
    if (first >= last) return; // the graph is outside the window, and an image needs a line
    const span = { ...range, width };
    const [firstRow, lastRow] = this.flip ? [tree.rows - last, tree.rows - first] : [first, last];
    const { palette, pixels, flip } = this;
    const ratio = devicePixelRatio || 1;
    const scene = { tree, rows, colours, palette, pixels, ratio, span, firstRow, lastRow, label, found, flip };
    draw(context, scene);
  }

  /** Return the visible lines, counted from the top. @param {Tree} tree */
  findVisibleRows(tree) {
    return findVisibleRows(
      this.view.getBoundingClientRect(),
      findClippingFrame(this.host),
      countLevels(tree, isCallers(this.host)),
    );
  }

  /** @param {number} width @param {number} first @param {number} last */
  fit(width, first, last) {
    const { canvas } = this;
    const ratio = devicePixelRatio || 1;
    const height = (last - first) * ROW_HEIGHT;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
    canvas.style.height = `${height}px`;
    canvas.style.top = `${first * ROW_HEIGHT}px`;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  }

  /**
   * Return the boxes drawn for the visible levels, as data.
   * @param {Drawn} drawn
   * @returns {PlacedBox[]}
   */
  boxes({ tree, rows, range }) {
    const { first, last } = this.findVisibleRows(tree);
    /** @type {PlacedBox[]} */
    const boxes = [];
    for (let line = first; line < last; line++) {
      const row = getRowLine(tree, line, this.flip);
      emitRowBoxes(tree, rows, row, { ...range, width: this.view.clientWidth }, (node, x, width, count) => {
        boxes.push({ node, row, x, width, count });
      });
    }
    return boxes;
  }
}
