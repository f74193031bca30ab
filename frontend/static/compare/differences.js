/** Two sets of profiles on aligned trees: the mean gives the widths, A - B the change. */

import { readTree } from '../flame-graph/tree.js';
import { formatPercent, formatValue } from '../units.js';

/** @typedef {import("../flame-graph/tree.js").Tree} Tree */

/**
 * @typedef {import("../flame-graph/tree.js").WireTree & {
 *   b: {profiles: number, total: number, self: number[]},
 *   ci_lo: (number | null)[], ci_hi: (number | null)[], q: (number | null)[],
 * }} WireDifferences `self` is side A's; values are sums over the profiles
 */

/**
 * @typedef {object} Differences aligned trees (the same nodes); values are averages per profile
 * @property {Tree} mean
 * @property {Tree} a
 * @property {Tree} b
 * @property {Int32Array} row row of the JSON by node; -1 for the root and folded nodes
 * @property {Float64Array} low 95 % interval of A - B by row; NaN if not tested
 * @property {Float64Array} high
 * @property {Float64Array} q
 * @property {[number, number]} profiles
 */

/** @typedef {"same" | "more" | "less" | "new" | "gone"} Kind */

/** A difference is significant up to this false-discovery rate. */
const REAL = 0.05;
/** Changes of this share of the larger side, or more, get the full colour. */
const FULL = 0.6;
const LEAST = 0.06;
/** Changes below this share of the larger total are shown as unchanged. */
const NEGLIGIBLE = 0.001;

/** @param {WireDifferences} wire @returns {Differences} */
export function readDifferences(wire) {
  const [inA, inB] = [Math.max(1, wire.profiles), Math.max(1, wire.b.profiles)];
  const a = wire.self.map((value) => value / inA);
  const b = wire.b.self.map((value) => value / inB);
  const folded = { ...wire.folded, total: wire.folded.total.map((value) => value / (inA + inB)) };
  const tree = (/** @type {number[]} */ self) => readTree({ ...wire, self, profiles: 1, folded });
  return {
    mean: tree(a.map((value, i) => (value + b[i]) / 2)),
    a: tree(a),
    b: tree(b),
    row: rowsOf(tree(wire.self.map((_, i) => i))),
    low: columnOf(wire.ci_lo),
    high: columnOf(wire.ci_hi),
    q: columnOf(wire.q),
    profiles: [wire.profiles, wire.b.profiles],
  };
}

/**
 * Return the JSON row of each node, from a tree whose self values are the row indexes.
 * @param {Tree} tree
 */
function rowsOf(tree) {
  return Int32Array.from(tree.self, (row, node) => (node === 0 || tree.hidden[node] ? -1 : row));
}

/** @param {(number | null)[]} column */
function columnOf(column) {
  return Float64Array.from(column, (value) => value ?? Number.NaN);
}

/**
 * Return whether the difference was tested and is significant.
 * @param {Differences} all
 * @param {number} node
 */
export function isReal(all, node) {
  const row = all.row[node];
  return row >= 0 && all.q[row] <= REAL;
}

/** @param {Differences} all @param {number} node @returns {Kind} */
export function kindOf(all, node) {
  const [a, b] = [all.a.total[node], all.b.total[node]];
  if (all.mean.hidden[node]) return 'same';
  if (b === 0 && a > 0) return 'new';
  if (a === 0 && b > 0) return 'gone';
  if (strengthOf(all, node) === 0) return 'same';
  return a > b ? 'more' : 'less';
}

/**
 * Return the intensity of the change's colour, 0 … 1.
 * @param {Differences} all
 * @param {number} node
 */
export function strengthOf(all, node) {
  const [a, b] = [all.a.total[node], all.b.total[node]];
  const change = Math.abs(a - b);
  if (all.mean.hidden[node] || change < NEGLIGIBLE * Math.max(all.a.total[0], all.b.total[0])) return 0;
  const strength = Math.min(1, change / Math.max(a, b) / FULL);
  return strength < LEAST ? 0 : strength;
}

/**
 * Format a comparison: `4.67 s vs. 6.91 s (-2.24 s), 46.6% vs 69% (-22.4%)`.
 * @param {number} a average per profile
 * @param {number} b average per profile
 * @param {number} wholeA
 * @param {number} wholeB
 * @param {string} unit
 * @param {string} none "no change"
 */
export function comparison(a, b, wholeA, wholeB, unit, none) {
  const change = signed(formatValue(a - b, unit), a - b) || none;
  const points = (wholeA ? a / wholeA : 0) - (wholeB ? b / wholeB : 0);
  const share = signed(formatPercent(points, 1), points) || none;
  const values = `${formatValue(a, unit)} vs. ${formatValue(b, unit)} (${change})`;
  return `${values}, ${formatPercent(a, wholeA)} vs ${formatPercent(b, wholeB)} (${share})`;
}

/** Prefix positive values with +; zero is "". @param {string} text @param {number} value */
function signed(text, value) {
  if (value === 0) return '';
  return value > 0 ? `+${text}` : text;
}

/**
 * Format the interval: `-2.41 s … -2.07 s`; "" if not tested.
 * @param {Differences} all
 * @param {number} node
 */
export function intervalOf(all, node) {
  const row = all.row[node];
  if (row < 0 || Number.isNaN(all.low[row])) return '';
  const end = (/** @type {number} */ value) => signed(formatValue(value, all.mean.unit), value) || '0';
  return `${end(all.low[row])} … ${end(all.high[row])}`;
}
