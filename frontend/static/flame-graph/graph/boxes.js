/** Layout of one level of the graph as boxes in pixels. */

import { findFirstRight } from '../tree/rows.js';

/** @typedef {import("../tree/tree.js").Tree} Tree */
/** @typedef {import("../tree/rows.js").Rows} Rows */

/**
 * @typedef {object} Span visible range of the graph, in the unit of total, and its width
 * @property {number} from
 * @property {number} to
 * @property {number} width in CSS pixels
 */

/**
 * @callback Emit
 * @param {number} node for a run of narrow nodes, the heaviest of them
 * @param {number} x in CSS pixels; may be negative
 * @param {number} width in CSS pixels
 * @param {number} count number of nodes that the box stands for
 * @returns {void}
 */

// Narrower nodes are not drawn individually: a run of them is one box.
export const NARROWEST = 0.5;

/**
 * Emit the boxes of one level, from left to right.
 * @param {Tree} tree
 * @param {Rows} rows
 * @param {number} row
 * @param {Span} span
 * @param {Emit} emit
 * @param {Uint8Array | null} [prefer] [n] nodes preferred over heavier ones to represent a run
 */
export function emitRowBoxes(tree, rows, row, span, emit, prefer = null) {
  const { start, total } = tree;
  const { nodes } = rows;
  const scale = span.width / (span.to - span.from);
  // in the unit of total, like all values below until they are emitted
  const least = NARROWEST / scale;
  const last = rows.first[row + 1];
  let run = -1; // the heaviest node of the current run of narrow nodes, -1 without a run
  let heaviest = 0; // its total
  let runFrom = 0;
  let runTo = 0;
  let count = 0;
  const emitRun = () => emit(run, (runFrom - span.from) * scale, Math.max(NARROWEST, (runTo - runFrom) * scale), count);
  for (let i = findFirstRight(tree, rows, row, span.from); i < last; i++) {
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
    const preference = prefer && run >= 0 ? prefer[node] - prefer[run] : 0;
    if (run < 0 || preference > 0 || (preference === 0 && of > heaviest)) {
      run = node;
      heaviest = of;
    }
    runTo = from + of;
    count++;
  }
  if (run >= 0) emitRun();
}

/**
 * Clip a box to the graph.
 * @param {number} x
 * @param {number} width
 * @param {number} all width of the graph
 * @returns {[number, number]} x and width
 */
export function clipBox(x, width, all) {
  const left = Math.max(0, x);
  return [left, Math.min(all, x + width) - left];
}
