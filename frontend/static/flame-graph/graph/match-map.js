/**
 * Map of the matches of a search at the right edge of a graph, beside its scroll bar.
 *
 * It spans all levels of the graph; a click goes to the match nearest to it.
 */

import { ROW_HEIGHT } from './draw.js';
import { findClippingFrame } from './visible-levels.js';

/** @typedef {import("../tree/tree.js").Tree} Tree */
/** @typedef {import("./marked-frame.js").Shown} Shown */

/** @typedef {{tree: Tree, found: Uint8Array, from: number, to: number}} Levels matches of a range */

const WIDTH = 10; // CSS pixels
const LEAST = 2; // thinnest mark in CSS pixels

/**
 * Return for each level: 2 if a match is within the range, 1 if all are outside, 0 without a match.
 * @param {Levels} levels
 */
export function matchedLevels({ tree, found, from, to }) {
  const levels = new Uint8Array(tree.rows);
  for (let i = 0; i < tree.n; i++) {
    if (!found[i] || tree.hidden[i]) continue;
    const inside = tree.start[i] < to && tree.start[i] + tree.total[i] > from;
    if (inside) levels[tree.depth[i]] = 2;
    else if (!levels[tree.depth[i]]) levels[tree.depth[i]] = 1;
  }
  return levels;
}

/**
 * Return the match on the level nearest to a position: there the heaviest, within the range first.
 * @param {Levels} levels
 * @param {number} level may be fractional
 * @returns {number} a node, or -1 without matches
 */
export function nearestMatch({ tree, found, from, to }, level) {
  let best = -1;
  let least = [Infinity, 0, 0];
  for (let i = 0; i < tree.n; i++) {
    if (!found[i] || tree.hidden[i]) continue;
    const inside = tree.start[i] < to && tree.start[i] + tree.total[i] > from;
    const rank = [Math.abs(tree.depth[i] + 0.5 - level), inside ? 0 : 1, -tree.total[i]];
    const differing = rank.findIndex((value, at) => value !== least[at]);
    if (differing < 0 || rank[differing] > least[differing]) continue;
    best = i;
    least = rank;
  }
  return best;
}

export class MatchMap {
  /**
   * @param {HTMLElement} host the scrolling element
   * @param {HTMLElement} view as tall as the whole graph
   * @param {SVGSVGElement} box
   * @param {(node: number) => void} go called with the match that was clicked
   */
  constructor(host, view, box, go) {
    this.host = host;
    this.view = view;
    this.box = box;
    /** @type {Levels | null} */
    this.levels = null;
    this.pitch = ROW_HEIGHT; // CSS pixels per level
    box.addEventListener('click', (event) => {
      if (!this.levels) return;
      const y = event.clientY - box.getBoundingClientRect().top;
      const node = nearestMatch(this.levels, y / this.pitch);
      if (node >= 0) go(node);
    });
  }

  /** @param {Shown} shown @param {Uint8Array | null} found [n] matches; null without a search */
  draw({ tree, range }, found) {
    const { host, view, box } = this;
    box.toggleAttribute('hidden', !found);
    this.levels = found && { tree, found, from: range.from, to: range.to };
    if (!this.levels) return;
    const seen = findClippingFrame(host);
    // the frame's bar may cover the top of the graph
    const above = Math.max(seen.top, box.getBoundingClientRect().top);
    const height = Math.max(0, Math.min(seen.bottom - above, tree.rows * ROW_HEIGHT));
    const top = view.getBoundingClientRect().top;
    this.pitch = height / tree.rows;
    const scale = this.pitch / ROW_HEIGHT;
    box.setAttribute('height', `${height}`);
    this.setSpan('.seen', (seen.top - top) * scale, (seen.bottom - seen.top) * scale);
    const levels = matchedLevels(this.levels);
    box.querySelector('.in')?.setAttribute('d', this.marks(levels, 2));
    box.querySelector('.out')?.setAttribute('d', this.marks(levels, 1));
  }

  /** @param {string} part @param {number} y @param {number} height */
  setSpan(part, y, height) {
    const rect = this.box.querySelector(part);
    rect?.setAttribute('y', `${Math.max(0, y)}`);
    rect?.setAttribute('height', `${height}`);
  }

  /**
   * Return a path with a box for each level of a kind; levels of one pixel share a box.
   * @param {Uint8Array} levels
   * @param {number} kind
   */
  marks(levels, kind) {
    const thick = Math.max(LEAST, this.pitch - 1);
    let path = '';
    let until = -Infinity;
    levels.forEach((found, level) => {
      const y = Math.round(level * this.pitch);
      if (found !== kind || y < until) return;
      path += `M0 ${y}h${WIDTH}v${thick}h${-WIDTH}z`;
      until = y + LEAST;
    });
    return path;
  }
}
