/** Packages of a tree's frames, and their self values over the whole selection. */

import { isOfItsFile, packageOf } from './packages.js';

/** @typedef {import("../tree/tree.js").Functions} Functions */
/** @typedef {import("../tree/tree.js").Tree} Tree */
/** @typedef {import("./packages.js").Package} Package */

/**
 * @typedef {object} Packaged
 * @property {Package[]} packages distinct ones
 * @property {Int32Array} byFrame package index of each of the tree's frames; -1 for non-functions
 */

/**
 * @typedef {object} Share
 * @property {Package} packaged
 * @property {number} self
 * @property {number} area sum of its functions' totals: the size of its frames in a graph
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
function collectPackages({ names, files, frames, labels }) {
  const collector = new PackageCollector(names, files);
  const byFrame = frames.name.map((name, at, { length }) =>
    at < length - NO_FUNCTIONS && !labels.has(at) ? collector.packageOf(name, frames.file[at]) : -1,
  );
  return { packages: collector.packages, byFrame };
}

class PackageCollector {
  /** @param {string[]} names @param {string[]} files */
  constructor(names, files) {
    this.names = names;
    this.files = files;
    /** @type {Package[]} distinct ones */
    this.packages = [];
    /** @type {Map<string, number>} index into packages by key */
    this.indexes = new Map();
    this.byFile = new Int32Array(files.length).fill(-1);
  }

  /** @param {number} name @param {number} file @returns {number} index into packages */
  packageOf(name, file) {
    const [text, path] = [this.names[name], this.files[file]];
    if (!isOfItsFile(text, path)) return this.entered(packageOf(text, path));
    if (this.byFile[file] < 0) this.byFile[file] = this.entered(packageOf(text, path));
    return this.byFile[file];
  }

  /** @param {Package} packaged */
  entered(packaged) {
    const key = keyOf(packaged);
    const index = this.indexes.get(key) ?? this.packages.push(packaged) - 1;
    this.indexes.set(key, index);
    return index;
  }
}

/** Return a text that identifies a package. @param {Package} packaged */
export function keyOf(packaged) {
  return `${packaged.kind} ${packaged.path}`;
}

/**
 * Return the functions of the whole selection, or of the tree itself if its document does not
 * list them.
 * @param {Tree} tree
 * @returns {Functions}
 */
export function functionsOf(tree) {
  const { functions, names, files, frames } = tree;
  if (functions) return functions;
  const self = new Float64Array(frames.name.length);
  const total = new Float64Array(frames.name.length);
  for (let i = 0; i < tree.n; i++) {
    self[tree.frame[i]] += tree.self[i];
    total[tree.frame[i]] += tree.total[i];
  }
  const last = frames.name.length - NO_FUNCTIONS;
  const [name, file] = [[...frames.name].slice(0, last), [...frames.file].slice(0, last)];
  return { names, files, name, file, self, total };
}

/**
 * Sum the values of packages, by self value, largest first; packages without any are omitted.
 * @param {Functions} functions
 * @returns {Share[]}
 */
export function sharesOf({ names, files, name, file, self, total }) {
  const collector = new PackageCollector(names, files);
  /** @type {Share[]} */
  const shares = [];
  name.forEach((at, i) => {
    if (total[i] <= 0) return;
    const index = collector.packageOf(at, file[i]);
    const share = (shares[index] ??= { packaged: collector.packages[index], self: 0, area: 0 });
    share.self += self[i];
    share.area += total[i];
  });
  return shares.sort((a, b) => b.self - a.self || (keyOf(a.packaged) < keyOf(b.packaged) ? -1 : 1));
}
