/** Labels of frames: the function and its package, without the path that both have in the name. */

/** @typedef {import("../../text.js").Label} Label */
/** @typedef {import("../tree/tree.js").Tree} Tree */

const SEPARATOR = ' · ';

/** Return a label whose forms are all the same text. @param {string} text @returns {Label} */
export function buildPlainLabel(text) {
  return { full: text, whole: text, narrow: text, leaf: text.length };
}

/** @type {WeakMap<Tree, Label[]>} by frame, filled when first drawn */
const labelsByTree = new WeakMap();

/** Return the label of a node that is a function. @param {Tree} tree @param {number} node @returns {Label} */
export function getLabel(tree, node) {
  const labels = labelsByTree.get(tree) ?? [];
  labelsByTree.set(tree, labels);
  const frame = tree.frame[node];
  return (labels[frame] ??= buildLabel(tree, frame));
}

/** @param {Tree} tree @param {number} frame @returns {Label} */
function buildLabel(tree, frame) {
  const name = tree.names[tree.frames.name[frame]];
  const prefix = tree.frames.prefix[frame];
  if (!prefix) return buildPlainLabel(name);
  const leaf = name.slice(prefix);
  const packageName = tree.packages[tree.frames.package[frame]].name;
  const whole = `${packageName}${SEPARATOR}${leaf}`;
  return { full: name, whole, narrow: `${leaf}${SEPARATOR}${packageName}`, leaf: leaf.length };
}
