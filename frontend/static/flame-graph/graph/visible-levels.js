/** Visible levels: the canvas is never taller than the window, however deep the tree is. */

import { ROW_HEIGHT } from './draw.js';

const MARGIN_ROWS = 8; // drawn beyond the edges, so that scrolling does not show a gap

/**
 * @param {{top: number, bottom: number}} view position of the whole graph, in window pixels
 * @param {{top: number, bottom: number}} frame the part of the window through which it is visible
 * @param {number} rows number of levels of the tree
 * @returns {{first: number, last: number}} levels to draw; `last` is exclusive
 */
export function findVisibleRows(view, frame, rows) {
  const first = Math.floor((frame.top - view.top) / ROW_HEIGHT) - MARGIN_ROWS;
  const last = Math.ceil((frame.bottom - view.top) / ROW_HEIGHT) + MARGIN_ROWS;
  const from = Math.min(Math.max(0, first), Math.max(0, rows - 1));
  return { first: from, last: Math.max(from, Math.min(rows, last)) };
}

/**
 * Return the part of the window in which a scrolling element is visible.
 * @param {Element} scroller
 */
export function findClippingFrame(scroller) {
  const box = scroller.getBoundingClientRect();
  return { top: Math.max(0, box.top), bottom: Math.min(innerHeight, box.bottom) };
}
