/** Picture of the graph as SVG: all levels of the zoomed range, in the colours of the current theme. */

import { emitRowBoxes, clipBox } from './boxes.js';
import { ROW_HEIGHT } from './draw.js';
import { getRowLine } from '../tree/rows.js';
import { formFor, markInvisible } from '../../text.js';

/** @typedef {import("./picture.js").Drawn} Drawn */
/** @typedef {import("./palette.js").Palette} Palette */

const CELL = 7; // pixels per character at 11.5 px
const PADDING = 4;

/**
 * @param {Drawn} drawn
 * @param {Palette} palette
 * @param {number} width in CSS pixels
 * @param {boolean} flip the root is at the bottom
 * @returns {string}
 */
export function renderSvg(drawn, palette, width, flip) {
  const { tree, rows, range, colours, label, found } = drawn;
  const height = tree.rows * ROW_HEIGHT;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`,
    ' font-family="ui-monospace, monospace" font-size="11.5">',
  ];
  for (let row = 0; row < tree.rows; row++) {
    const y = getRowLine(tree, row, flip) * ROW_HEIGHT;
    emitRowBoxes(
      tree,
      rows,
      row,
      { ...range, width },
      (node, x, wide, count) => {
        const [left, shown] = clipBox(x, wide, width);
        if (shown <= 0) return;
        const colour = colours[node];
        parts.push(`<g>${title(label(node).full)}${box(left, y, shown, palette.fill[colour])}`);
        if (count === 1) parts.push(text(label(node), left, y, shown, palette.ink[colour]));
        parts.push('</g>');
      },
      found,
    );
  }
  return [...parts, '</svg>\n'].join('');
}

/** @param {number} x @param {number} y @param {number} width @param {string} fill */
function box(x, y, width, fill) {
  const drawn = Math.max(0.5, width - 1).toFixed(2);
  return `<rect x="${x.toFixed(2)}" y="${y}" width="${drawn}" height="${ROW_HEIGHT - 1}" fill="${fill}"/>`;
}

/**
 * @param {import("../../text.js").Label} label
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {string} ink
 */
function text(label, x, y, width, ink) {
  const room = Math.floor((width - 2 * PADDING) / CELL);
  if (room < 3) return '';
  const form = formFor(label, width - 2 * PADDING, CELL);
  const characters = Array.from(markInvisible(form.slice(0, 4 * room)));
  const shown = characters.length > room ? `${characters.slice(0, room - 1).join('')}…` : characters.join('');
  return `<text x="${(x + PADDING).toFixed(2)}" y="${y + 14}" fill="${ink}">${escapeMarkup(shown)}</text>`;
}

/** @param {string} label */
function title(label) {
  return `<title>${escapeMarkup(markInvisible(label.slice(0, 1000)))}</title>`;
}

/** @param {string} text */
function escapeMarkup(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
