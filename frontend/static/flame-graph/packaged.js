/** The packages of a tree's nodes, told once for each distinct frame. */

import { isOfItsFile, packageOf } from './packages.js';

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
  const telling = new Telling(tree);
  const { frame, hidden } = tree;
  const byFrame = new Int32Array(tree.frames.name.length).fill(-1);
  const of = new Int32Array(tree.n).fill(-1);
  for (let i = tree.base ? 0 : 1; i < tree.n; i++) {
    if (hidden[i]) continue;
    const at = frame[i];
    if (byFrame[at] < 0) byFrame[at] = telling.packageOf(at);
    of[i] = byFrame[at];
  }
  return { packages: telling.packages, of };
}

class Telling {
  /** @param {Tree} tree */
  constructor(tree) {
    this.tree = tree;
    /** @type {Package[]} distinct ones */
    this.packages = [];
    /** @type {Map<string, number>} index into packages by kind and name */
    this.known = new Map();
    this.byFile = new Int32Array(tree.files.length).fill(-1);
  }

  /** @param {number} frame @returns {number} index into packages */
  packageOf(frame) {
    const { frames, names, files } = this.tree;
    const file = frames.file[frame];
    const name = names[frames.name[frame]];
    if (!isOfItsFile(name, files[file])) return this.entered(packageOf(name, files[file]));
    if (this.byFile[file] < 0) this.byFile[file] = this.entered(packageOf(name, files[file]));
    return this.byFile[file];
  }

  /** @param {Package} packaged */
  entered(packaged) {
    const key = `${packaged.kind} ${packaged.name}`;
    const index = this.known.get(key) ?? this.packages.push(packaged) - 1;
    this.known.set(key, index);
    return index;
  }
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
