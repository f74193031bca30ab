/**
 * Colours of packages: distinct for the heaviest ones of a selection, and the same in all its views.
 *
 * Warm colours are own code, cool ones libraries, greys are native code and unknown packages. Packages beyond the palette
 * share one colour of their kind. frontend/pages/embed/package_colours.py is the same for images that
 * the server draws; the tests compare both.
 */

import { functionsOf, keyOf, sharesOf } from './tree-packages.js';

/** @typedef {import("./packages.js").Package} Package */
/** @typedef {import("../tree/tree.js").Functions} Functions */
/** @typedef {import("./tree-packages.js").Share} Share */
/** @typedef {import("../tree/tree.js").Tree} Tree */

const OWN = 4;
const LIBRARIES = 8;

/** Tokens of the palette: names of CSS custom properties without the leading dashes. */
export const PACKAGE_TOKENS = [
  ...Array.from({ length: OWN }, (_, i) => `own-${i + 1}`),
  'own-rest',
  ...Array.from({ length: LIBRARIES }, (_, i) => `lib-${i + 1}`),
  'lib-rest',
  'unknown',
  'native',
];

const OWN_REST = OWN;
const FIRST_LIBRARY = OWN_REST + 1;
const LIBRARY_REST = FIRST_LIBRARY + LIBRARIES;
const UNKNOWN = LIBRARY_REST + 1;
const NATIVE = UNKNOWN + 1;

export class PackageColours {
  /** @param {Functions} functions of the whole selection */
  constructor(functions) {
    /** @type {Share[]} largest first */
    this.shares = sharesOf(functions);
    /** Sum of all self values. */
    this.total = this.shares.reduce((sum, share) => sum + share.self, 0);
    /** @type {Map<string, number>} */
    this.slots = new Map([
      ...assigned(this.shares, ['own'], 0, OWN),
      ...assigned(this.shares, ['library', 'stdlib'], FIRST_LIBRARY, LIBRARIES),
    ]);
  }

  /** Return whether no other package has this package's colour. @param {Package} packaged */
  isDistinct(packaged) {
    return packaged.kind === 'native' || packaged.kind === 'unknown' || this.slots.has(keyOf(packaged));
  }

  /** Return a package's colour as an index into PACKAGE_TOKENS. @param {Package} packaged */
  slotOf(packaged) {
    if (packaged.kind === 'native') return NATIVE;
    if (packaged.kind === 'unknown') return UNKNOWN;
    return this.slots.get(keyOf(packaged)) ?? (packaged.kind === 'own' ? OWN_REST : LIBRARY_REST);
  }

  /** Return the CSS class of a swatch. @param {Package} packaged */
  classOf(packaged) {
    return `p-${PACKAGE_TOKENS[this.slotOf(packaged)].replace('-', '')}`;
  }
}

/** @type {WeakMap<object, PackageColours>} by the selection's functions, or by the tree */
const coloursByKey = new WeakMap();

/** @param {Tree} tree @returns {PackageColours} */
export function packageColoursOf(tree) {
  const key = tree.functions ?? tree;
  const found = coloursByKey.get(key) ?? new PackageColours(functionsOf(tree));
  coloursByKey.set(key, found);
  return found;
}

/**
 * Assign a colour to each of the `count` heaviest packages of some kinds: in turn the next one by
 * self value, which tops a bottom-up graph, and by the size of its frames in a flame graph.
 *
 * A package prefers the colour of its name's hash, so that it mostly keeps its colour in other
 * selections and when its rank changes.
 * @param {Share[]} shares largest first
 * @param {Package["kind"][]} kinds
 * @param {number} first
 * @param {number} count
 * @returns {Map<string, number>} index into PACKAGE_TOKENS by key
 */
function assigned(shares, kinds, first, count) {
  const bySelf = shares.filter(({ packaged }) => kinds.includes(packaged.kind));
  const byArea = [...bySelf].sort((a, b) => b.area - a.area);
  const heaviest = new Set(bySelf.flatMap((share, i) => [share, byArea[i]]));
  const keys = [...heaviest].slice(0, count).map(({ packaged }) => keyOf(packaged));
  const taken = new Set();
  const slots = new Map();
  for (const key of keys.sort()) {
    let slot = hash(key) % count;
    while (taken.has(slot)) slot = (slot + 1) % count;
    taken.add(slot);
    slots.set(key, first + slot);
  }
  return slots;
}

/** Return the 32-bit FNV-1a hash of the UTF-16 units, mixed at the end. @param {string} text */
function hash(text) {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value ^= value >>> 15;
  return (Math.imul(value, 0x2c1b3c6d) >>> 0) >>> 8;
}
