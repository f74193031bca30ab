/** Which levels are in sight: the canvas is never taller than the window, however deep the tree. */

import { ROW_HEIGHT } from './draw.js';

const MARGIN_ROWS = 8; // drawn beyond the edges, so that scrolling doesn't show a gap

/**
 * @param {{top: number, bottom: number}} view where the whole graph is, in window pixels
 * @param {{top: number, bottom: number}} frame what of the window it may be seen through
 * @param {number} rows how many levels the tree has
 * @returns {{first: number, last: number}} levels to draw; `last` is exclusive
 */
export function rowsInSight(view, frame, rows) {
  const first = Math.floor((frame.top - view.top) / ROW_HEIGHT) - MARGIN_ROWS;
  const last = Math.ceil((frame.bottom - view.top) / ROW_HEIGHT) + MARGIN_ROWS;
  const from = Math.min(Math.max(0, first), Math.max(0, rows - 1));
  return { first: from, last: Math.max(from, Math.min(rows, last)) };
}

/**
 * The part of the window that a scrolling element can be seen through.
 * @param {Element} scroller
 */
export function frameOf(scroller) {
  const box = scroller.getBoundingClientRect();
  return { top: Math.max(0, box.top), bottom: Math.min(innerHeight, box.bottom) };
}
