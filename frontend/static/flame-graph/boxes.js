/** Which boxes a level of the graph is drawn as, in pixels. */

import { firstRightOf } from './rows.js';

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./rows.js").Rows} Rows */

/**
 * @typedef {object} Span what of the graph is shown, in the unit of total, and how wide
 * @property {number} from
 * @property {number} to
 * @property {number} width in CSS pixels
 */

/**
 * @callback Emit
 * @param {number} node for a run of narrow ones, the heaviest of them
 * @param {number} x in CSS pixels, may lie left of 0
 * @param {number} width in CSS pixels
 * @param {number} count how many nodes the box stands for
 * @returns {void}
 */

// Narrower than this a node is not drawn by itself: the run of its kind is one box.
export const NARROWEST = 0.5;

/**
 * The boxes of one level, from left to right.
 * @param {Tree} tree
 * @param {Rows} rows
 * @param {number} row
 * @param {Span} span
 * @param {Emit} emit
 * @param {Uint8Array | null} [prefer] [n] nodes that a run is named by before heavier ones
 */
export function boxesOfRow(tree, rows, row, span, emit, prefer = null) {
  const scale = span.width / (span.to - span.from);
  const last = rows.first[row + 1];
  let run = -1; // the heaviest node of the run of narrow ones, -1 while there is none
  let runFrom = 0;
  let runTo = 0;
  let count = 0;
  for (let i = firstRightOf(tree, rows, row, span.from); i < last; i++) {
    const node = rows.nodes[i];
    if (tree.start[node] >= span.to) break;
    const x = (tree.start[node] - span.from) * scale;
    const width = tree.total[node] * scale;
    const narrow = width < NARROWEST;
    if (run >= 0 && (!narrow || x - runTo >= NARROWEST)) {
      emit(run, runFrom, Math.max(NARROWEST, runTo - runFrom), count);
      run = -1;
    }
    if (!narrow) {
      emit(node, x, width, 1);
    } else if (run < 0) {
      run = node;
      runFrom = x;
      runTo = x + width;
      count = 1;
    } else {
      runTo = x + width;
      count++;
      const wanted = prefer ? prefer[node] - prefer[run] : 0;
      if (wanted > 0 || (wanted === 0 && tree.total[node] > tree.total[run])) run = node;
    }
  }
  if (run >= 0) emit(run, runFrom, Math.max(NARROWEST, runTo - runFrom), count);
}

/**
 * The part of a box that is inside the picture.
 * @param {number} x
 * @param {number} width
 * @param {number} all the picture's width
 * @returns {[number, number]} x and width
 */
export function clipped(x, width, all) {
  const left = Math.max(0, x);
  return [left, Math.min(all, x + width) - left];
}
