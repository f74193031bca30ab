/** Tooltip of a frame. The page has its markup and texts; this module fills and places it. */

import { formatCount, formatPercent, formatValue } from '../../units.js';
import { ROW_HEIGHT } from './draw.js';
import { formatSourceLine, sourceText } from './source.js';
import { insertValues, markInvisible } from '../../text.js';
import { getName } from '../tree/tree.js';

/** @typedef {import("../tree/tree.js").Tree} Tree */

const GAP = 8;
const FROM_POINTER = 16;

export class Tooltip {
  /** @param {HTMLElement} box with elements marked data-tip="name" and so on */
  constructor(box) {
    this.box = box;
    /** @type {Map<string, HTMLElement>} */
    this.parts = new Map();
    for (const part of box.querySelectorAll('[data-tip]')) {
      if (part instanceof HTMLElement) this.parts.set(part.dataset.tip ?? '', part);
    }
  }

  /**
   * @param {Tree} tree
   * @param {number} node
   * @param {number} view the node at full width
   */
  fill(tree, node, view) {
    const values = formatValues(tree, node, view, this.box.dataset.folded ?? '');
    for (const [key, text] of Object.entries(values)) {
      const part = this.parts.get(key);
      if (part) part.textContent = text;
    }
  }

  /**
   * Place the tooltip below the frame, or above it if there is no room, in the visible area.
   * @param {{x: number, y: number}} at the pointer's x and the frame's top, in the graph's pixels
   * @param {{left: number, right: number, top: number, bottom: number}} room in the same pixels
   */
  moveTo(at, room) {
    this.box.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const under = at.y + ROW_HEIGHT + GAP;
    const above = at.y - GAP - height;
    const top = under + height <= room.bottom || above < room.top ? under : above;
    const left = Math.max(room.left, Math.min(at.x + FROM_POINTER, room.right - width));
    this.box.style.left = `${left}px`;
    this.box.style.top = `${top}px`;
  }

  hide() {
    this.box.hidden = true;
  }
}

/**
 * Return the tooltip's texts for a node; values are averages per profile.
 * @param {Tree} tree
 * @param {number} node
 * @param {number} view
 * @param {string} folded sentence for a box of folded nodes, with {count}
 * @returns {Record<string, string>}
 */
export function formatValues(tree, node, view, folded) {
  const total = tree.total[node];
  const self = node === 0 || tree.hidden[node] ? 0 : tree.self[node];
  const name = tree.hidden[node]
    ? insertValues(folded, { count: formatCount(tree.hidden[node]) })
    : getName(tree, node);
  return {
    name: markInvisible(name),
    where: sourceText(formatSourceLine(tree, node)),
    total: formatValue(total / tree.profiles, tree.unit),
    'total-root': formatPercent(total, tree.total[0]),
    'total-view': formatPercent(total, tree.total[view]),
    self: formatValue(self / tree.profiles, tree.unit),
    'self-root': formatPercent(self, tree.total[0]),
    'self-view': formatPercent(self, tree.total[view]),
  };
}
