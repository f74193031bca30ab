/**
 * Marked frame: its outline, its tooltip, and its announcement to screen readers.
 *
 * The pointer marks the frame under it. The chosen frame, which was clicked or reached by key, is
 * marked while the pointer is elsewhere; it has no tooltip, which would cover its callees.
 */

import { ROW_HEIGHT } from './draw.js';
import { getRowLine } from '../tree/rows.js';
import { findClippingFrame } from './visible-levels.js';
import { insertValues } from '../../text.js';
import { Tooltip, formatValues } from './tooltip.js';

/** @typedef {import("../tree/tree.js").Tree} Tree */

/**
 * @typedef {object} Shown the visible part of the graph, in the unit of total
 * @property {Tree} tree
 * @property {{from: number, to: number}} range
 * @property {number} node at full width
 * @property {boolean} flip the root is at the bottom
 */

/**
 * Return the line of the graph, from the top, that a node is on.
 * @param {Shown} shown
 * @param {number} node
 */
function getNodeLine({ tree, flip }, node) {
  return getRowLine(tree, tree.depth[node], flip);
}

const MARGIN = 3 * ROW_HEIGHT; // around a frame that was scrolled to

export class Pointing {
  /**
   * @param {HTMLElement} host the scrolling element
   * @param {HTMLElement} view container of the graph
   * @param {HTMLElement} box outline of the marked frame
   * @param {HTMLElement} tip
   * @param {HTMLElement | null} said live region
   */
  constructor(host, view, box, tip, said) {
    this.host = host;
    this.view = view;
    this.box = box;
    this.tip = new Tooltip(tip);
    this.said = said;
    this.folded = tip.dataset.folded ?? '';
    this.marked = -1;
    this.chosen = -1;
  }

  /** @param {Shown} shown @param {number} node @param {number} [clientX] of the pointer */
  mark(shown, node, clientX) {
    if (node !== this.marked) {
      this.marked = node;
      this.tip.fill(shown.tree, node, shown.node);
      this.moveTo(shown);
    }
    if (node === this.chosen) this.tip.hide();
    else this.placeTip(shown, clientX);
  }

  /** Choose a frame, or none. @param {Shown} shown @param {number} node -1 for none */
  choose(shown, node) {
    this.chosen = this.marked = node;
    this.tip.hide();
    this.moveTo(shown);
  }

  /** Mark the chosen frame again, as the pointer is elsewhere. @param {Shown} shown */
  unmark(shown) {
    this.marked = this.chosen;
    this.tip.hide();
    this.moveTo(shown);
  }

  /** Update the tooltip after a zoom, which changes the shares of the view. @param {Shown} shown */
  refill(shown) {
    if (this.marked >= 0) this.tip.fill(shown.tree, this.marked, shown.node);
  }

  /** @param {Shown} shown */
  moveTo(shown) {
    this.box.hidden = this.marked < 0;
    if (this.box.hidden) return;
    const [x, width] = this.measureNode(shown, this.marked);
    this.box.style.left = `${x}px`;
    this.box.style.width = `${Math.max(2, width)}px`;
    this.box.style.top = `${getNodeLine(shown, this.marked) * ROW_HEIGHT - 1}px`;
  }

  /** @param {Shown} shown @param {number} [clientX] */
  placeTip(shown, clientX) {
    const host = this.host.getBoundingClientRect();
    const view = this.view.getBoundingClientRect();
    const seen = findClippingFrame(this.host);
    const [right, down] = [this.host.scrollLeft - host.left, this.host.scrollTop - host.top];
    const x = (clientX ?? view.left + this.measureNode(shown, this.marked)[0]) + right;
    const y = view.top + getNodeLine(shown, this.marked) * ROW_HEIGHT + down;
    const room = {
      left: view.left + right,
      right: view.right + right,
      top: seen.top + down,
      bottom: seen.bottom + down,
    };
    this.tip.moveTo({ x, y }, room);
  }

  /** Announce a node to screen readers. @param {Shown} shown @param {number} node */
  say(shown, node) {
    if (!this.said) return;
    this.said.textContent = insertValues(
      this.said.dataset.text ?? '',
      formatValues(shown.tree, node, shown.node, this.folded),
    );
  }

  /**
   * Scroll to the frame's level, with some levels around it, if it is out of sight.
   * @param {Shown} shown
   * @param {number} node
   */
  bringIntoSight(shown, node) {
    const top = this.view.getBoundingClientRect().top + getNodeLine(shown, node) * ROW_HEIGHT;
    const seen = findClippingFrame(this.host);
    // where the whole page scrolls, the bar of the chosen frame stays above the graph
    const bar = this.host.parentElement?.querySelector('.frame-bar')?.getBoundingClientRect();
    seen.top = Math.max(seen.top, bar?.bottom ?? 0);
    const below = top + ROW_HEIGHT - seen.bottom;
    if (top >= seen.top && below <= 0) return;
    const margin = Math.min(MARGIN, (seen.bottom - seen.top) / 3);
    const over = top < seen.top ? top - seen.top - margin : below + margin;
    if (this.host.scrollHeight > this.host.clientHeight + 1) this.host.scrollTop += over;
    else scrollBy(0, over);
  }

  /**
   * Return a node's left edge and width in the view's pixels, clipped to the view.
   * @param {Shown} shown
   * @param {number} node
   */
  measureNode({ tree, range }, node) {
    const width = this.view.clientWidth;
    const scale = width / (range.to - range.from);
    const left = Math.max(0, (tree.start[node] - range.from) * scale);
    const right = Math.min(width, (tree.start[node] + tree.total[node] - range.from) * scale);
    return [left, right - left];
  }
}
