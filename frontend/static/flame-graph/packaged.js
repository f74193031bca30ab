/** Packages of a tree's frames. */

import { isOfItsFile, packageOf } from './packages.js';

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./packages.js").Package} Package */

/**
 * @typedef {object} Packaged
 * @property {Package[]} packages distinct ones
 * @property {Int32Array} byFrame package index of each of the tree's frames; -1 for non-functions
 */

const NO_FUNCTIONS = 2; // the last frames of a tree: the service, and folded nodes

/** @type {WeakMap<Tree, Packaged>} */
const packagesByTree = new WeakMap();

/** @param {Tree} tree @returns {Packaged} */
export function packagesOf(tree) {
  const found = packagesByTree.get(tree) ?? collectPackages(tree);
  packagesByTree.set(tree, found);
  return found;
}

/** @param {Tree} tree @returns {Packaged} */
function collectPackages(tree) {
  const collector = new PackageCollector(tree);
  const byFrame = tree.frames.name.map((_, at, { length }) =>
    at < length - NO_FUNCTIONS ? collector.packageOf(at) : -1,
  );
  return { packages: collector.packages, byFrame };
}

class PackageCollector {
  /** @param {Tree} tree */
  constructor(tree) {
    this.tree = tree;
    /** @type {Package[]} distinct ones */
    this.packages = [];
    /** @type {Map<string, number>} index into packages by kind and name */
    this.indexes = new Map();
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
    const index = this.indexes.get(key) ?? this.packages.push(packaged) - 1;
    this.indexes.set(key, index);
    return index;
  }
}

/**
 * Sum self values by package, largest first; packages without nodes in this tree are omitted.
 * @param {Tree} tree
 * @returns {{packaged: Package, self: number}[]}
 */
export function packagesBySelf(tree) {
  const { packages, byFrame } = packagesOf(tree);
  const sums = packages.map((packaged) => ({ packaged, self: 0, met: false }));
  for (let i = 0; i < tree.n; i++) {
    const sum = sums[byFrame[tree.frame[i]]];
    if (!sum) continue;
    sum.self += tree.self[i];
    sum.met = true;
  }
  const met = sums.filter((sum) => sum.met);
  return met.sort((a, b) => b.self - a.self || (a.packaged.name < b.packaged.name ? -1 : 1));
}
