/** Colour of each node by package, by self or by total, as an index into TOKENS. */

/** @typedef {import("../tree/tree.js").Tree} Tree */
/** @typedef {"package" | "self" | "total"} ColourBy */

/** @param {string} kind @param {number} count */
const numberedTokens = (kind, count) => Array.from({ length: count }, (_, i) => `${kind}-${i + 1}`);

/** Tokens of the packages: names of CSS custom properties without the leading dashes. */
export const PACKAGE_TOKENS = [
  ...numberedTokens('own', 4),
  'own-rest',
  ...numberedTokens('lib', 8),
  'lib-rest',
  'unknown',
  'native',
];
const ROOT = PACKAGE_TOKENS.length - 1;
const HEAT = PACKAGE_TOKENS.length;
const STEPS = 5;
const HEAT_TOKENS = Array.from({ length: STEPS + 1 }, (_, i) => `heat-${i}`);
export const FOLDED = HEAT + HEAT_TOKENS.length;
/** Names of the CSS custom properties of all node colours, without the leading dashes. */
export const TOKENS = [...PACKAGE_TOKENS, ...HEAT_TOKENS, 'dim', 'match', 'accent'];
export const MATCH = FOLDED + 1;
const HIGHLIGHT = FOLDED + 2;

/** @param {string | null} text @returns {ColourBy} */
export function readColourBy(text) {
  return text === 'self' || text === 'total' ? text : 'package';
}

/**
 * @param {Tree} tree
 * @param {ColourBy} by
 * @returns {Uint8Array} [n] index into TOKENS
 */
export function chooseColours(tree, by) {
  const colours = by === 'package' ? chooseColoursByPackage(tree) : chooseColoursByHeat(tree, by);
  const { n, hidden, highlight } = tree;
  if (highlight) for (let i = 0; i < n; i++) if (highlight[i] && !hidden[i]) colours[i] = HIGHLIGHT;
  return colours;
}

/**
 * Return one colour for search matches, and the dim colour for all other nodes.
 * @param {Tree} tree
 * @param {Uint8Array} found [n]
 */
export function chooseSearchColours(tree, found) {
  return Uint8Array.from(found, (matches, i) => (matches && !tree.hidden[i] ? MATCH : FOLDED));
}

/** @param {Tree} tree */
function chooseColoursByPackage(tree) {
  const packageColours = tree.packages.map(({ colour }) => PACKAGE_TOKENS.indexOf(colour));
  const ofFrame = Uint8Array.from(tree.frames.package, (at) => (at < 0 ? ROOT : packageColours[at]));
  ofFrame[ofFrame.length - 1] = FOLDED; // folded nodes have the last frame of the table
  const { n, frame } = tree;
  const colours = new Uint8Array(n);
  for (let i = 0; i < n; i++) colours[i] = ofFrame[frame[i]];
  return colours;
}

/** @param {Tree} tree @param {"self" | "total"} by */
function chooseColoursByHeat(tree, by) {
  const colours = new Uint8Array(tree.n);
  const values = tree[by];
  const most = by === 'total' ? tree.total[0] : findLargestSelf(tree);
  for (let i = 0; i < tree.n; i++) {
    if (tree.hidden[i]) colours[i] = FOLDED;
    else colours[i] = HEAT + (most > 0 ? Math.min(STEPS, Math.ceil((values[i] / most) * STEPS)) : 0);
  }
  return colours;
}

/** Return the largest self value of a node. @param {Tree} tree */
export function findLargestSelf(tree) {
  let most = 0;
  for (let i = 1; i < tree.n; i++) if (!tree.hidden[i] && tree.self[i] > most) most = tree.self[i];
  return most;
}
