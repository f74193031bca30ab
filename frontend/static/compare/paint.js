/**
 * Canvas painter of the comparison.
 *
 * Frames are grey mixed with the colour for more or less; those that only one side has are hatched.
 */

import { emitRowBoxes, clipBox } from '../flame-graph/graph/boxes.js';
import { truncateToFit, formFor } from '../text.js';

/** @typedef {import("../flame-graph/tree/tree.js").Tree} Tree */
/** @typedef {[number, number, number]} Colour */

export const ROW = 20;
const PADDING = 4;

/**
 * @typedef {object} Palette
 * @property {Colour} same
 * @property {Colour} more
 * @property {Colour} less
 * @property {string} dim of folded nodes, and of nodes that do not match the search
 * @property {string} dimText
 * @property {string} font
 */

/**
 * @typedef {object} Look appearance of a node
 * @property {import("./differences.js").Kind} kind
 * @property {number} strength 0 … 1
 * @property {import("../text.js").Label} label
 * @property {boolean} dim
 */

/**
 * @typedef {object} Scene
 * @property {Tree} tree
 * @property {import("../flame-graph/tree/rows.js").Rows} rows
 * @property {import("../flame-graph/graph/boxes.js").Span} span
 * @property {number} first first visible level
 * @property {number} last end of the visible levels, exclusive
 * @property {Palette} palette
 * @property {(node: number) => Look} look
 */

/** @param {Element} element @returns {Palette} */
export function readPalette(element) {
  const probe = document.createElement('i');
  element.append(probe);
  const css = (/** @type {string} */ token) => {
    probe.style.color = `var(--${token})`;
    return getComputedStyle(probe).color;
  };
  const [same, more, less, dim, dimText] = ['same', 'more', 'less', 'dim', 'dim-text'].map(css);
  const face = getComputedStyle(element).getPropertyValue('--mono').trim() || 'monospace';
  probe.remove();
  return { same: readParts(same), more: readParts(more), less: readParts(less), dim, dimText, font: `11.5px ${face}` };
}

/** @param {string} css rgb(…) @returns {Colour} */
function readParts(css) {
  const [r, g, b] = (css.match(/[\d.]+/g) ?? []).map(Number);
  return [r ?? 0, g ?? 0, b ?? 0];
}

/** @param {Palette} palette @param {Look} look @returns {Colour} */
export function mixFill(palette, { kind, strength }) {
  if (kind === 'same') return palette.same;
  const goal = kind === 'more' || kind === 'added' ? palette.more : palette.less;
  const part = kind === 'added' || kind === 'removed' ? 1 : strength;
  const mixed = palette.same.map((value, i) => Math.round(value + (goal[i] - value) * part));
  return [mixed[0], mixed[1], mixed[2]];
}

/** Return black or white, whichever has more contrast on the colour. @param {Colour} colour */
export function chooseInk(colour) {
  const [r, g, b] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000000' : '#ffffff';
}

/**
 * Paint the visible levels.
 * @param {CanvasRenderingContext2D} context with its top at the first visible level
 * @param {Scene} scene
 */
export function paint(context, scene) {
  const { span, palette } = scene;
  context.clearRect(0, 0, span.width, (scene.last - scene.first) * ROW);
  context.font = palette.font;
  context.textBaseline = 'middle';
  const cell = context.measureText('mmmmmmmmmm').width / 10;
  for (let row = scene.first; row < scene.last; row++) {
    const y = (row - scene.first) * ROW;
    emitRowBoxes(scene.tree, scene.rows, row, span, (node, x, width, count) => {
      const [left, wide] = clipBox(x, width, span.width);
      if (wide > 0) paintBox(context, scene, count === 1 ? node : -1, { x: left, y, width: wide }, cell);
    });
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {number} node -1 for a run of narrow nodes
 * @param {{x: number, y: number, width: number}} box
 * @param {number} cell width of a character
 */
function paintBox(context, scene, node, { x, y, width }, cell) {
  const folded = node < 0 || scene.tree.hidden[node] > 0;
  const look = folded ? null : scene.look(node);
  const colour = look && !look.dim ? mixFill(scene.palette, look) : null;
  context.fillStyle = colour ? `rgb(${colour.join(' ')})` : scene.palette.dim;
  context.fillRect(x, y, Math.max(0.5, width - 1), ROW - 1);
  if (!look) return;
  if (colour && (look.kind === 'added' || look.kind === 'removed') && width > 3) hatch(context, x, y, width);
  if (width < 3 * cell + 2 * PADDING) return;
  const measure = (/** @type {string} */ text) => context.measureText(text).width;
  const room = width - 2 * PADDING;
  const text = truncateToFit(formFor(look.label, room, cell), room, cell, measure);
  context.fillStyle = colour ? chooseInk(colour) : scene.palette.dimText;
  if (text) context.fillText(text, x + PADDING, y + ROW / 2 + 0.5);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} width
 */
function hatch(context, x, y, width) {
  context.save();
  context.beginPath();
  context.rect(x, y, width - 1, ROW - 1);
  context.clip();
  context.strokeStyle = 'rgb(17 17 17 / .3)';
  context.beginPath();
  for (let at = x - ROW; at < x + width; at += 5) {
    context.moveTo(at, y + ROW);
    context.lineTo(at + ROW, y);
  }
  context.stroke();
  context.restore();
}
