/** Paints the levels in sight on the canvas: boxes colour by colour, then their labels. */

import { boxesOfRow } from './boxes.js';
import { FOLDED } from './colours.js';
import { fitted } from './text.js';

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./rows.js").Rows} Rows */
/** @typedef {import("./palette.js").Palette} Palette */

export const ROW_HEIGHT = 20;
const PADDING = 4;

/**
 * @typedef {object} Scene
 * @property {Tree} tree
 * @property {Rows} rows
 * @property {Uint8Array} colours
 * @property {Palette} palette
 * @property {import("./boxes.js").Span} span
 * @property {number} firstRow
 * @property {number} lastRow exclusive
 * @property {boolean} flip whether the root is at the foot
 * @property {(node: number) => string} label
 * @property {Uint8Array | null} found [n] what a search finds, the rest is dimmed; null without one
 */

/**
 * @param {CanvasRenderingContext2D} context scaled to CSS pixels; its top is the first row's
 * @param {Scene} scene
 */
export function draw(context, scene) {
  const { palette, span } = scene;
  context.clearRect(0, 0, span.width, (scene.lastRow - scene.firstRow) * ROW_HEIGHT);
  context.font = palette.font;
  context.textBaseline = 'middle';
  const cell = context.measureText('mmmmmmmmmm').width / 10;
  /** @type {number[][]} x, y, width, node … of each colour */
  const boxes = palette.fill.map(() => []);
  let y = 0;
  /** @type {import("./boxes.js").Emit} */
  const place = (node, x, width, count) => {
    const left = Math.max(0, x);
    const wide = Math.min(span.width, x + width) - left;
    if (wide > 0) boxes[scene.colours[node]].push(left, y, wide, count === 1 ? node : -1);
  };
  for (let row = scene.firstRow; row < scene.lastRow; row++) {
    y = (scene.flip ? scene.lastRow - 1 - row : row - scene.firstRow) * ROW_HEIGHT;
    boxesOfRow(scene.tree, scene.rows, row, span, place, scene.found);
  }
  boxes.forEach((list, colour) => fillBoxes(context, list, palette.fill[colour]));
  boxes.forEach((list, colour) => writeLabels(context, scene, list, palette.ink[colour], cell));
  hatch(context, scene, boxes[FOLDED].filter((_, i, list) => hatched(scene, list[i - (i % 4) + 3])));
}

/** Not what a search dims alone. @param {Scene} scene @param {number} node -1 for a run of narrow ones */
function hatched(scene, node) {
  return node >= 0 ? scene.tree.hidden[node] > 0 : !scene.found;
}

/** @param {CanvasRenderingContext2D} context @param {number[]} list @param {string} fill */
function fillBoxes(context, list, fill) {
  if (!list.length) return;
  context.fillStyle = fill;
  for (let i = 0; i < list.length; i += 4) {
    context.fillRect(list[i], list[i + 1], Math.max(0.5, list[i + 2] - 1), ROW_HEIGHT - 1);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number[]} list
 * @param {string} ink
 * @param {number} cell
 */
function writeLabels(context, scene, list, ink, cell) {
  if (!list.length) return;
  const narrowest = 3 * cell + 2 * PADDING;
  const measure = (/** @type {string} */ text) => context.measureText(text).width;
  context.fillStyle = ink;
  for (let i = 0; i < list.length; i += 4) {
    if (list[i + 2] < narrowest || list[i + 3] < 0) continue;
    const text = fitted(scene.label(list[i + 3]), list[i + 2] - 2 * PADDING, cell, measure);
    if (text) context.fillText(text, list[i] + PADDING, list[i + 1] + ROW_HEIGHT / 2 + 0.5);
  }
}

/**
 * Lines over the boxes that stand for folded nodes.
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number[]} list
 */
function hatch(context, scene, list) {
  if (!list.length) return;
  context.save();
  context.beginPath();
  for (let i = 0; i < list.length; i += 4) context.rect(list[i], list[i + 1], list[i + 2] - 1, ROW_HEIGHT - 1);
  context.clip();
  context.strokeStyle = scene.palette.hatch;
  context.globalAlpha = 0.35;
  context.beginPath();
  for (let i = 0; i < list.length; i += 4) hatchBox(context, list[i], list[i + 1], list[i + 2]);
  context.stroke();
  context.restore();
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} width */
function hatchBox(context, x, y, width) {
  for (let at = x - ROW_HEIGHT; at < x + width; at += 6) {
    context.moveTo(at, y + ROW_HEIGHT);
    context.lineTo(at + ROW_HEIGHT, y);
  }
}
