/** Labels of frames: the function and its package, without the path that both have in the name. */

import { nameInPackage, packageOf } from './packages.js';
import { packagesOf } from './tree-packages.js';
import { markInvisible } from '../../text.js';

/** @typedef {import("../../text.js").Label} Label */
/** @typedef {import("../tree/tree.js").Tree} Tree */

const SEPARATOR = ' · ';
const LIST_SEPARATOR = '\u00a0·\u00a0'; // spaces at an element's end would collapse

/** Return a label whose forms are all the same text. @param {string} text @returns {Label} */
export function plainLabel(text) {
  return { full: text, whole: text, narrow: text, leaf: text.length };
}

/** @type {WeakMap<Tree, Label[]>} by frame, filled when first drawn */
const labelsByTree = new WeakMap();

/** Return the label of a node that is a function. @param {Tree} tree @param {number} node @returns {Label} */
export function labelOf(tree, node) {
  const labels = labelsByTree.get(tree) ?? [];
  labelsByTree.set(tree, labels);
  const frame = tree.frame[node];
  return (labels[frame] ??= newLabel(tree, frame));
}

/** @param {Tree} tree @param {number} frame @returns {Label} */
function newLabel(tree, frame) {
  const name = tree.names[tree.frames.name[frame]];
  const { packages, byFrame } = packagesOf(tree);
  const packaged = packages[byFrame[frame]];
  const leaf = packaged ? nameInPackage(name, tree.files[tree.frames.file[frame]]) : name;
  if (leaf === name || !packaged) return plainLabel(name);
  const whole = `${packaged.name}${SEPARATOR}${leaf}`;
  return { full: name, whole, narrow: `${leaf}${SEPARATOR}${packaged.name}`, leaf: leaf.length };
}

/**
 * Split a function's name for a list, where the front is cut first.
 * @param {string} name
 * @param {string} file
 * @returns {{front: string, leaf: string} | null} null if the name does not begin with its package
 */
export function splitName(name, file) {
  const leaf = nameInPackage(name, file);
  if (leaf === name) return null;
  return { front: markInvisible(packageOf(name, file).name) + LIST_SEPARATOR, leaf: markInvisible(leaf) };
}
