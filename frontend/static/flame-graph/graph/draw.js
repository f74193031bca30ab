/** Canvas painter of the visible levels: first the boxes, then the labels colour by colour. */

import { emitRowBoxes } from './boxes.js';
import { FOLDED } from '../packages/colours.js';
import { truncateToFit, formFor } from '../../text.js';

/** @typedef {import("../tree/tree.js").Tree} Tree */
/** @typedef {import("../tree/rows.js").Rows} Rows */
/** @typedef {import("./palette.js").Palette} Palette */

export const ROW_HEIGHT = 20;
const PADDING = 4;

/**
 * @typedef {object} Scene
 * @property {Tree} tree
 * @property {Rows} rows
 * @property {Uint8Array} colours
 * @property {Palette} palette
 * @property {import("./pixels.js").Pixels} pixels
 * @property {number} ratio device pixels per CSS pixel
 * @property {import("./boxes.js").Span} span
 * @property {number} firstRow
 * @property {number} lastRow exclusive
 * @property {boolean} flip the root is at the bottom
 * @property {(node: number) => import("../../text.js").Label} label
 * @property {Uint8Array | null} found [n] matches, others are dimmed; null without a search
 */

/**
 * @param {CanvasRenderingContext2D} context scaled to CSS pixels, with its top at the first row
 * @param {Scene} scene
 */
export function draw(context, scene) {
  const { palette, span, pixels, ratio } = scene;
  const levels = scene.lastRow - scene.firstRow;
  context.clearRect(0, 0, span.width, levels * ROW_HEIGHT);
  context.font = palette.font;
  context.textBaseline = 'middle';
  const cell = context.measureText('mmmmmmmmmm').width / 10;
  const labelled = narrowestLabel(cell);
  /**
   * @type {number[][]} x, y, width, node … of each colour's boxes with a label or hatching
   */
  const boxes = palette.fill.map(() => []);
  const wide = Math.round(span.width * ratio);
  pixels.begin(wide, levels);
  let line = 0;
  /** @type {import("./boxes.js").Emit} */
  const addBox = (node, x, width, count) => {
    const colour = scene.colours[node];
    const left = Math.max(0, x);
    const right = Math.min(span.width, x + width);
    if (right <= left) return;
    const from = Math.min(wide - 1, Math.round(left * ratio));
    pixels.fill(line, from, Math.max(from + 1, Math.round((right - 1) * ratio)), palette.pixel[colour]);
    if (colour === FOLDED || (count === 1 && right - left >= labelled)) {
      boxes[colour].push(left, line * ROW_HEIGHT, right - left, count === 1 ? node : -1);
    }
  };
  for (let row = scene.firstRow; row < scene.lastRow; row++) {
    line = scene.flip ? scene.lastRow - 1 - row : row - scene.firstRow;
    emitRowBoxes(scene.tree, scene.rows, row, span, addBox, scene.found);
  }
  stretch(context, pixels.finish(), wide / ratio);
  boxes.forEach((list, colour) => writeLabels(context, scene, list, palette.ink[colour], cell));
  hatch(
    context,
    scene,
    boxes[FOLDED].filter((_, i, list) => isHatched(scene, list[i - (i % 4) + 3])),
  );
}

/**
 * Stretch each line of pixels to the height of a level.
 * @param {CanvasRenderingContext2D} context
 * @param {HTMLCanvasElement} lines
 * @param {number} width
 */
function stretch(context, lines, width) {
  context.imageSmoothingEnabled = false;
  for (let line = 0; line < lines.height; line++) {
    context.drawImage(lines, 0, line, lines.width, 1, 0, line * ROW_HEIGHT, width, ROW_HEIGHT - 1);
  }
}

/**
 * Return the width of a box that has room for three characters.
 * @param {number} cell width of a character
 */
function narrowestLabel(cell) {
  return 3 * cell + 2 * PADDING;
}

/**
 * Return whether a dim box is hatched: yes for folded nodes, no for nodes that a search dims.
 * @param {Scene} scene
 * @param {number} node -1 for a run of narrow nodes
 */
function isHatched(scene, node) {
  return node >= 0 ? scene.tree.hidden[node] > 0 : !scene.found;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number[]} boxes x, y, width, node (-1: a run of narrow nodes) of each box
 * @param {string} ink colour of the labels
 * @param {number} cell width of a character
 */
function writeLabels(context, scene, boxes, ink, cell) {
  if (!boxes.length) return;
  const narrowest = narrowestLabel(cell);
  const measure = (/** @type {string} */ text) => context.measureText(text).width;
  context.fillStyle = ink;
  for (let i = 0; i < boxes.length; i += 4) {
    if (boxes[i + 2] < narrowest || boxes[i + 3] < 0) continue;
    const room = boxes[i + 2] - 2 * PADDING;
    const text = truncateToFit(formFor(scene.label(boxes[i + 3]), room, cell), room, cell, measure);
    if (text) context.fillText(text, boxes[i] + PADDING, boxes[i + 1] + ROW_HEIGHT / 2 + 0.5);
  }
}

/**
 * Hatch the boxes that stand for folded nodes.
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

/**
 * Add diagonal lines over a box, 6 px apart, to the current path.
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} width
 */
function hatchBox(context, x, y, width) {
  for (let at = x - ROW_HEIGHT; at < x + width; at += 6) {
    context.moveTo(at, y + ROW_HEIGHT);
    context.lineTo(at + ROW_HEIGHT, y);
  }
}
