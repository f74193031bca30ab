/**
 * Recursion folding: a recursive call is merged into the function's first call on the stack.
 *
 * Each function then occurs once per stack. Totals do not change; the nodes between two calls keep
 * their self values.
 */

import { readTree } from './tree.js';

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./tree.js").WireTree} WireTree */

/**
 * @param {Tree} tree
 * @returns {Tree} a new tree with the same frames, profiles and unit
 */
export function foldRecursion(tree) {
  const merged = new MergedTree(tree);
  for (let i = 1; i < tree.n; i++) merged.add(i);
  return readTree(merged.wire());
}

class MergedTree {
  /** @param {Tree} tree */
  constructor(tree) {
    this.tree = tree;
    this.newNode = new Int32Array(tree.n); // new node of each old one
    this.parent = [-1];
    this.frame = [tree.frame[0]];
    this.self = [tree.self[0]];
    /** @type {Map<number, number>} nodes by parent and frame */
    this.nodesByKey = new Map();
    /** @type {Map<number, {count: number, total: number}>} */
    this.folded = new Map();
    const lit = tree.highlight;
    /** @type {Set<number>} highlighted frames */
    this.lit = new Set(tree.frame.filter((_, i) => lit?.[i]));
  }

  /** @param {number} node */
  add(node) {
    const { tree } = this;
    const above = this.newNode[tree.parent[node]];
    if (tree.hidden[node]) this.fold(above, node);
    else this.self[(this.newNode[node] = this.getNode(above, tree.frame[node]))] += tree.self[node];
  }

  /**
   * Return `above` or its nearest ancestor with this frame, otherwise a child of `above`.
   * @param {number} above
   * @param {number} frame
   */
  getNode(above, frame) {
    const least = this.tree.base ? 0 : 1;
    for (let at = above; at >= least; at = this.parent[at]) if (this.frame[at] === frame) return at;
    const key = above * this.tree.frames.name.length + frame;
    const existing = this.nodesByKey.get(key);
    if (existing !== undefined) return existing;
    const made = this.parent.push(above) - 1;
    this.frame.push(frame);
    this.self.push(0);
    this.nodesByKey.set(key, made);
    return made;
  }

  /** @param {number} above @param {number} node */
  fold(above, node) {
    const { count, total } = this.folded.get(above) ?? { count: 0, total: 0 };
    this.folded.set(above, { count: count + this.tree.hidden[node], total: total + this.tree.total[node] });
  }

  /**
   * Return the new tree as JSON data; siblings are ordered by total, then name.
   * @returns {WireTree}
   */
  wire() {
    const { tree } = this;
    const { order, depth } = this.preOrder();
    const row = new Map(order.map((node, i) => [node, i]));
    const at = [...this.folded.keys()];
    const base = tree.base ? 0 : 1;
    return {
      service: tree.service,
      type: tree.type,
      metric: { name: '', unit: tree.unit },
      profiles: tree.profiles,
      names: tree.names,
      files: tree.files,
      root: tree.root || null,
      frames: {
        name: [...tree.frames.name],
        file: [...tree.frames.file],
        line: [...tree.frames.line],
        package: [...tree.frames.package],
        prefix: [...tree.frames.prefix],
      },
      frame: order.map((node) => this.frame[node]),
      depth: order.map((node) => depth[node] - base),
      self: order.map((node) => this.self[node]),
      highlight:
        tree.highlight === null ? undefined : order.flatMap((node, i) => (this.lit.has(this.frame[node]) ? [i] : [])),
      base: tree.base,
      packages: tree.packages,
      split: { by: '', frames: [...tree.labels] },
      folded: {
        at: at.map((node) => row.get(node) ?? 0),
        count: at.map((node) => this.folded.get(node)?.count ?? 0),
        total: at.map((node) => this.folded.get(node)?.total ?? 0),
      },
    };
  }

  preOrder() {
    const totals = this.totals();
    const { name } = this.tree.frames;
    const named = (/** @type {number} */ node) => this.tree.names[name[this.frame[node]]];
    /** @type {number[][]} */
    const children = this.parent.map(() => []);
    this.parent.forEach((above, node) => above >= 0 && children[above].push(node));
    const depth = new Int32Array(this.parent.length);
    const order = [];
    const open = [0];
    while (open.length) {
      const node = /** @type {number} */ (open.pop());
      if (node || this.tree.base) order.push(node);
      depth[node] = node ? depth[this.parent[node]] + 1 : 0;
      const heavy = children[node].sort((a, b) => totals[a] - totals[b] || (named(a) < named(b) ? 1 : -1));
      for (const child of heavy) open.push(child);
    }
    return { order, depth };
  }

  /** Compute totals bottom-up: a node's index is greater than its parent's. */
  totals() {
    const totals = Float64Array.from(this.self);
    for (const [node, { total }] of this.folded) totals[node] += total;
    for (let i = totals.length - 1; i > 0; i--) totals[this.parent[i]] += totals[i];
    return totals;
  }
}
