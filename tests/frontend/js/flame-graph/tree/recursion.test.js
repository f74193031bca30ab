import assert from 'node:assert/strict';
import test from 'node:test';

import { foldRecursion } from '../../../../../frontend/static/flame-graph/tree/recursion.js';
import { getName, listPath, readTree } from '../../../../../frontend/static/flame-graph/tree/tree.js';
import { randomRows, wireOf } from '../../trees.js';

const shapes = (tree) =>
  Array.from({ length: tree.n }, (_, i) => [tree.depth[i], getName(tree, i), tree.self[i], tree.total[i]]);

test('a function that calls itself, by way of others too, stands once', () => {
  const rows = [
    [0, 'main', 1],
    [1, 'a', 2],
    [2, 'b', 4],
    [3, 'a', 8],
    [4, 'b', 16],
    [4, 'c', 32],
    [1, 'b', 64],
  ];
  assert.deepEqual(shapes(foldRecursion(readTree(wireOf(rows)))), [
    [0, 'example', 0, 127],
    [1, 'main', 1, 127],
    [2, 'b', 64, 64],
    [2, 'a', 10, 62],
    [3, 'c', 32, 32],
    [3, 'b', 20, 20],
  ]);
});

test('no stack has a function twice, and no value is lost', () => {
  for (let seed = 1; seed <= 10; seed++) {
    const before = readTree(wireOf(randomRows(3000, 40, seed)));
    const after = foldRecursion(before);
    assert.equal(after.total[0], before.total[0]);
    for (let node = 1; node < after.n; node++) {
      const frames = listPath(after, node).map((at) => after.frame[at]);
      assert.equal(new Set(frames).size, frames.length);
    }
  }
});

test('what is folded stays folded, and counted', () => {
  const wire = wireOf(
    [
      [0, 'main', 1],
      [1, 'a', 2],
      [2, 'a', 3],
    ],
    { folded: { at: [1, 2], count: [5, 7], total: [10, 20] } },
  );
  const after = foldRecursion(readTree(wire));
  assert.deepEqual(
    shapes(after).map(([, name, , total]) => [name, total]),
    [
      ['example', 36],
      ['main', 36],
      ['a', 35],
      ['', 30],
    ],
  );
  assert.equal(after.hidden[3], 12);
});

test('a stack of 10,000 different frames is folded in no time that matters', () => {
  const rows = Array.from({ length: 10_000 }, (_, i) => [i, `f${i}`, 1]);
  assert.equal(foldRecursion(readTree(wireOf(rows))).rows, 10_001);
});
