import assert from 'node:assert/strict';
import test from 'node:test';
import {
  formatComparison,
  formatInterval,
  isReal,
  getKind,
  readDifferences,
  computeStrength,
} from '../../../../frontend/static/compare/differences.js';
import { mixFill, chooseInk } from '../../../../frontend/static/compare/paint.js';
import { wireOf } from '../trees.js';

/** Two profiles are selected, the baseline has four. @param {object} [more] */
function both(more = {}) {
  const rows = [
    [0, 'main', 40],
    [1, 'same', 100],
    [1, 'grown', 300],
    [1, 'added', 60],
    [1, 'removed', 0],
  ];
  return readDifferences({
    ...wireOf(/** @type {any} */ (rows)),
    profiles: 2,
    b: { profiles: 4, total: 0, self: [80, 200, 200, 0, 80] },
    ci_lo: [null, -1, 90, 20, -30],
    ci_hi: [null, 1, 110, 40, -10],
    q: [null, 0.9, 0.001, 0.05, 0.04],
    ...more,
  });
}
const [MAIN, SAME, GROWN, ADDED, REMOVED] = [1, 2, 3, 4, 5];
const S = 1e9;

test('widths are means of both averages', () => {
  const all = both();
  assert.deepEqual([...all.selected.total], [250, 250, 50, 150, 30, 0]);
  assert.deepEqual([...all.baseline.total], [140, 140, 50, 50, 0, 20]);
  assert.deepEqual([...all.mean.total], [195, 195, 50, 100, 15, 10]);
});

test('frames of one side are added or removed, others more, less or the same', () => {
  const all = both();
  assert.deepEqual(
    [SAME, GROWN, ADDED, REMOVED].map((node) => getKind(all, node)),
    ['same', 'more', 'added', 'removed'],
  );
  assert.equal(computeStrength(all, SAME), 0);
  assert.equal(computeStrength(all, GROWN), 1);
});

test('a real change is one whose q is small enough', () => {
  const all = both();
  assert.deepEqual(
    [MAIN, SAME, GROWN, ADDED].map((node) => isReal(all, node)),
    [false, false, true, true],
  );
  assert.deepEqual([isReal(all, 0), isReal(both({ whole: { real: true } }), 0)], [false, true]);
  assert.equal(formatInterval(all, MAIN), '');
  assert.equal(formatInterval(all, REMOVED), '-30 ns … -10 ns');
  assert.equal(formatInterval(all, GROWN), '+90 ns … +110 ns');
});

test('what is folded shifts the nodes, not their intervals', () => {
  const folded = { at: [1], count: [7], total: [60] };
  const all = both({ folded });
  assert.deepEqual([...all.row], [-1, 0, 1, -1, 2, 3, 4]);
  assert.equal(all.mean.hidden[3], 7);
  assert.equal(getKind(all, 3), 'same');
  assert.equal(formatInterval(all, 4), '+90 ns … +110 ns');
});

/** @param {number} value @param {number} whole */
const of = (value, whole) => ({ value, whole });

test('the comparison goes from the baseline to the selected side', () => {
  const text = formatComparison(of(4.67 * S, 10.02 * S), of(6.91 * S, 10.01 * S), 'nanoseconds', 'no change');
  assert.equal(text, '4.67 s → 6.91 s (+2.24 s), 46.6% → 69% (+22.4 pp)');
  const same = formatComparison(of(5, 10), of(5, 10), 'bytes', 'no change');
  assert.equal(same, '5 B → 5 B (no change), 50% → 50% (no change)');
  assert.equal(
    formatComparison(of(349e6, 9.97 * S), of(237e6, 9.88 * S), 'nanoseconds', ''),
    '349 ms → 237 ms (-112 ms), 3.5% → 2.4% (-1.1 pp)',
  );
  assert.equal(formatComparison(of(0, 0), of(5, 10), 'bytes', ''), '0 → 5 B (+5 B), 0 → 50% (+50 pp)');
});

test('relative comparisons are of shares', () => {
  const all = both();
  // 50 of 140 against 50 of 250: as an average unchanged, as a share less
  assert.deepEqual([getKind(all, SAME), getKind(all, SAME, true)], ['same', 'less']);
  assert.equal(computeStrength(all, MAIN, true), 0);
  const text = formatComparison(of(50, 140), of(50, 250), 'bytes', 'no change', true);
  assert.equal(text, '35.7% → 20% (-15.7 pp), 50 B → 50 B (no change)');
});

test('colours are mixed by the size of the change, and ink has contrast', () => {
  const palette = { same: [200, 200, 200], more: [100, 0, 0], less: [0, 0, 100], dim: '', font: '' };
  const look = (/** @type {any} */ kind, strength = 0.5) =>
    mixFill(/** @type {any} */ (palette), { kind, strength, label: '' });
  assert.deepEqual(look('same'), [200, 200, 200]);
  assert.deepEqual(look('more'), [150, 100, 100]);
  assert.deepEqual(look('removed'), [0, 0, 100]);
  assert.equal(chooseInk([245, 164, 93]), '#000000');
  assert.equal(chooseInk([74, 76, 73]), '#ffffff');
});
