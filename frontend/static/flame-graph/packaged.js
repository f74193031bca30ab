/** The packages of a tree's nodes, told once for each distinct frame. */

import { packageOf } from './packages.js';
import { fileOf, nameOf } from './tree.js';

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./packages.js").Package} Package */

/**
 * @typedef {object} Packaged
 * @property {Package[]} packages distinct ones
 * @property {Int32Array} of [n] index into packages of each node; -1 for what is no frame
 */

/** @type {WeakMap<Tree, Packaged>} */
const known = new WeakMap();

/** @param {Tree} tree @returns {Packaged} */
export function packagesOf(tree) {
  const found = known.get(tree) ?? told(tree);
  known.set(tree, found);
  return found;
}

/** @param {Tree} tree @returns {Packaged} */
function told(tree) {
  /** @type {Package[]} */
  const packages = [];
  /** @type {Map<string, number>} */
  const byName = new Map();
  const byFrame = new Int32Array(tree.frames.name.length).fill(-1);
  const of = new Int32Array(tree.n).fill(-1);
  for (let i = tree.base ? 0 : 1; i < tree.n; i++) {
    if (tree.hidden[i]) continue;
    const frame = tree.frame[i];
    if (byFrame[frame] < 0) byFrame[frame] = entered(packageOf(nameOf(tree, i), fileOf(tree, i)), packages, byName);
    of[i] = byFrame[frame];
  }
  return { packages, of };
}

/**
 * @param {Package} packaged
 * @param {Package[]} packages
 * @param {Map<string, number>} byName
 */
function entered(packaged, packages, byName) {
  const key = `${packaged.kind} ${packaged.name}`;
  const index = byName.get(key) ?? packages.push(packaged) - 1;
  byName.set(key, index);
  return index;
}

/**
 * Self values summed by package, the largest first.
 * @param {Tree} tree
 * @returns {{packaged: Package, self: number}[]}
 */
export function packagesBySelf(tree) {
  const { packages, of } = packagesOf(tree);
  const sums = packages.map((packaged) => ({ packaged, self: 0 }));
  for (let i = 0; i < tree.n; i++) if (of[i] >= 0) sums[of[i]].self += tree.self[i];
  return sums.sort((a, b) => b.self - a.self || (a.packaged.name < b.packaged.name ? -1 : 1));
}
