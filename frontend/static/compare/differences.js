/** Two sets of profiles on aligned trees: the mean gives the widths, selected - baseline the change. */

import { readTree } from '../flame-graph/tree/tree.js';
import { formatDeltaPoints, formatPercent, formatValue } from '../units.js';

/** @typedef {import("../flame-graph/tree/tree.js").Tree} Tree */

/**
 * @typedef {import("../flame-graph/tree/tree.js").WireTree & {
 *   b: {profiles: number, total: number, self: number[]},
 *   whole?: {real: boolean}, ci_lo: (number | null)[], ci_hi: (number | null)[], q: (number | null)[],
 * }} WireDifferences `self` is the selected side's, `b` the baseline; values are sums over the profiles
 */

/**
 * @typedef {object} Differences aligned trees (the same nodes); values are averages per profile
 * @property {Tree} mean
 * @property {Tree} baseline
 * @property {Tree} selected
 * @property {Int32Array} row row of the JSON by node; -1 for the root and folded nodes
 * @property {Float64Array} low 95 % interval of selected - baseline by row; NaN if not tested
 * @property {Float64Array} high
 * @property {Float64Array} q
 * @property {boolean} isTotalReal the difference of the totals of all nodes is significant
 * @property {{baseline: number, selected: number}} profiles
 */

/** @typedef {"same" | "more" | "less" | "added" | "removed"} Kind `added`: on the selected side only */

/** A difference is significant up to this false-discovery rate. */
const REAL = 0.05;
/** Changes of this share of the larger side, or more, get the full colour. */
const FULL = 0.6;
const LEAST = 0.06;
/** Changes below this share of the larger total are shown as unchanged. */
const NEGLIGIBLE = 0.001;

/** @param {WireDifferences} wire @returns {Differences} */
export function readDifferences(wire) {
  const profiles = { baseline: wire.b.profiles, selected: wire.profiles };
  const [before, after] = [Math.max(1, profiles.baseline), Math.max(1, profiles.selected)];
  const baseline = wire.b.self.map((value) => value / before);
  const selected = wire.self.map((value) => value / after);
  const folded = { ...wire.folded, total: wire.folded.total.map((value) => value / (before + after)) };
  const tree = (/** @type {number[]} */ self) => readTree({ ...wire, self, profiles: 1, folded });
  return {
    mean: tree(selected.map((value, i) => (value + baseline[i]) / 2)),
    baseline: tree(baseline),
    selected: tree(selected),
    row: listRows(tree(wire.self.map((_, i) => i))),
    low: readColumn(wire.ci_lo),
    high: readColumn(wire.ci_hi),
    q: readColumn(wire.q),
    isTotalReal: wire.whole?.real ?? false,
    profiles,
  };
}

/**
 * Return the JSON row of each node, from a tree whose self values are the row indexes.
 * @param {Tree} tree
 */
function listRows(tree) {
  return Int32Array.from(tree.self, (row, node) => (node === 0 || tree.hidden[node] ? -1 : row));
}

/** @param {(number | null)[]} column */
function readColumn(column) {
  return Float64Array.from(column, (value) => value ?? Number.NaN);
}

/**
 * Return whether the difference was tested and is significant.
 * @param {Differences} all
 * @param {number} node
 */
export function isReal(all, node) {
  if (node === 0) return all.isTotalReal;
  const row = all.row[node];
  return row >= 0 && all.q[row] <= REAL;
}

/**
 * Return a node's totals, baseline first: averages per profile, or shares of what the graph draws.
 * @param {Differences} all
 * @param {number} node
 * @param {boolean} relative
 */
function getSides(all, node, relative) {
  return [all.baseline, all.selected].map((tree) =>
    relative ? tree.total[node] / (tree.total[0] || 1) : tree.total[node],
  );
}

/** @param {Differences} all @param {number} node @param {boolean} [relative] @returns {Kind} */
export function getKind(all, node, relative = false) {
  const [before, after] = getSides(all, node, relative);
  if (all.mean.hidden[node]) return 'same';
  if (before === 0 && after > 0) return 'added';
  if (after === 0 && before > 0) return 'removed';
  if (computeStrength(all, node, relative) === 0) return 'same';
  return after > before ? 'more' : 'less';
}

/**
 * Return the intensity of the change's colour, 0 … 1.
 * @param {Differences} all
 * @param {number} node
 * @param {boolean} [relative] of shares, instead of averages
 */
export function computeStrength(all, node, relative = false) {
  const [before, after] = getSides(all, node, relative);
  const change = Math.abs(after - before);
  const whole = Math.max(...getSides(all, 0, relative));
  if (all.mean.hidden[node] || change < NEGLIGIBLE * whole) return 0;
  const strength = Math.min(1, change / Math.max(before, after) / FULL);
  return strength < LEAST ? 0 : strength;
}

/**
 * @typedef {object} Compared a value on one side
 * @property {number} value average per profile
 * @property {number} whole average total of the side
 */

/**
 * Format a comparison: `4.67 s → 6.91 s (+2.24 s), 46.6% → 69% (+22.4 pp)`; the shares first if relative.
 * @param {Compared} baseline
 * @param {Compared} selected
 * @param {string} unit
 * @param {string} none "no change"
 * @param {boolean} [relative]
 */
export function formatComparison(baseline, selected, unit, none, relative = false) {
  const share = (/** @type {Compared} */ of) => (of.whole ? of.value / of.whole : 0);
  const change = selected.value - baseline.value;
  const points = share(selected) - share(baseline);
  const changes = [addSign(formatValue(change, unit), change) || none, formatDeltaPoints(points) || none];
  const values = [baseline, selected].map((of) => formatValue(of.value, unit)).join(' → ');
  const shares = [baseline, selected].map((of) => formatPercent(of.value, of.whole)).join(' → ');
  const parts = [`${values} (${changes[0]})`, `${shares} (${changes[1]})`];
  return (relative ? parts.reverse() : parts).join(', ');
}

/** Prefix positive values with +; zero is "". @param {string} text @param {number} value */
function addSign(text, value) {
  if (value === 0) return '';
  return value > 0 ? `+${text}` : text;
}

/**
 * Format the interval: `-2.41 s … -2.07 s`; "" if not tested.
 * @param {Differences} all
 * @param {number} node
 */
export function formatInterval(all, node) {
  const row = all.row[node];
  if (row < 0 || Number.isNaN(all.low[row])) return '';
  const end = (/** @type {number} */ value) => addSign(formatValue(value, all.mean.unit), value) || '0';
  return `${end(all.low[row])} … ${end(all.high[row])}`;
}
