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
  const { start, total } = tree;
  const { nodes } = rows;
  const scale = span.width / (span.to - span.from);
  const least = NARROWEST / scale; // in the unit of total, as all is below until it is emitted
  const last = rows.first[row + 1];
  let run = -1; // the heaviest node of the run of narrow ones, -1 while there is none
  let heaviest = 0; // its total
  let runFrom = 0;
  let runTo = 0;
  let count = 0;
  const emitRun = () => emit(run, (runFrom - span.from) * scale, Math.max(NARROWEST, (runTo - runFrom) * scale), count);
  for (let i = firstRightOf(tree, rows, row, span.from); i < last; i++) {
    const node = nodes[i];
    const from = start[node];
    if (from >= span.to) break;
    const of = total[node];
    if (run >= 0 && (of >= least || from - runTo >= least)) {
      emitRun();
      run = -1;
    }
    if (of >= least) {
      emit(node, (from - span.from) * scale, of * scale, 1);
      continue;
    }
    if (run < 0) {
      runFrom = from;
      count = 0;
    }
    const wanted = prefer && run >= 0 ? prefer[node] - prefer[run] : 0;
    if (run < 0 || wanted > 0 || (wanted === 0 && of > heaviest)) {
      run = node;
      heaviest = of;
    }
    runTo = from + of;
    count++;
  }
  if (run >= 0) emitRun();
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
