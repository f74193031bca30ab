/** Visible range of the graph: all of it, or one node at full width with its callers above. */

/** @typedef {import("../tree/tree.js").Tree} Tree */

const SLIDE_MS = 120;

/** @typedef {{from: number, to: number}} Range in the unit of total */

/** @param {Tree} tree @param {number} node @returns {Range} */
function getRange(tree, node) {
  return { from: tree.start[node], to: tree.start[node] + tree.total[node] };
}

/** @param {Range} a @param {Range} b @param {number} part 0 … 1 @returns {Range} */
export function between(a, b, part) {
  return { from: a.from + (b.from - a.from) * part, to: a.to + (b.to - a.to) * part };
}

/** Visible range, with animated transitions. */
export class Zoom {
  /** @param {() => void} redraw */
  constructor(redraw) {
    this.redraw = redraw;
    /** @type {Range} */
    this.shown = { from: 0, to: 1 };
    this.node = 0;
    this.frame = 0;
  }

  /**
   * @param {Tree} tree
   * @param {number} node
   * @param {boolean} slide animate the transition
   */
  show(tree, node, slide) {
    this.node = node;
    cancelAnimationFrame(this.frame);
    const goal = getRange(tree, node);
    const still = !slide || matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (still) {
      this.shown = goal;
      this.redraw();
    } else {
      this.slide(this.shown, goal, performance.now());
    }
  }

  /** @param {Range} from @param {Range} to @param {number} began */
  slide(from, to, began) {
    const part = Math.min(1, (performance.now() - began) / SLIDE_MS);
    this.shown = part < 1 ? between(from, to, 1 - (1 - part) ** 3) : to;
    this.redraw();
    if (part < 1) this.frame = requestAnimationFrame(() => this.slide(from, to, began));
  }

  stop() {
    cancelAnimationFrame(this.frame);
  }
}
