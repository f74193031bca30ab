import assert from 'node:assert/strict';
import test from 'node:test';

import {
  isLabel,
  getName,
  listPath,
  readTree,
  UnreadableTree,
} from '../../../../../frontend/static/flame-graph/tree/tree.js';
import { example, randomRows, wireOf } from '../../trees.js';

const named = (tree, name) => Array.from({ length: tree.n }, (_, i) => i).filter((i) => getName(tree, i) === name);

test("the documentation's example has its totals and offsets exactly", () => {
  const tree = readTree(example());
  const shapes = Array.from({ length: tree.n }, (_, i) => [
    getName(tree, i),
    tree.depth[i],
    tree.start[i],
    tree.total[i],
  ]);
  assert.deepEqual(shapes, [
    ['example', 0, 0, 900],
    ['main', 1, 0, 900],
    ['foo1', 2, 0, 400],
    ['bar', 3, 0, 250],
    ['foo2', 2, 400, 300],
    ['bar', 3, 400, 250],
  ]);
  const foo1 = named(tree, 'foo1')[0];
  assert.equal(tree.self[foo1] / tree.total[foo1], 0.375);
});

test('several roots stand side by side under the service', () => {
  const tree = readTree(
    wireOf([
      [0, 'a', 3],
      [0, 'b', 1],
      [1, 'c', 2],
    ]),
  );
  assert.equal(tree.total[0], 6);
  assert.deepEqual([...tree.parent], [-1, 0, 0, 2]);
  assert.deepEqual([...tree.start], [0, 0, 3, 3]);
});

test("every total is its self value and its callees' totals", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const tree = readTree(wireOf(randomRows(2000, 60, seed)));
    const sums = Float64Array.from(tree.self);
    for (let i = 1; i < tree.n; i++) sums[tree.parent[i]] += tree.total[i];
    assert.deepEqual(sums, tree.total);
  }
});

test('callees stand inside their caller, from left to right, without overlap', () => {
  const tree = readTree(wireOf(randomRows(2000, 60, 7)));
  const reached = Float64Array.from(tree.start);
  for (let i = 1; i < tree.n; i++) {
    const above = tree.parent[i];
    assert.equal(tree.start[i], reached[above]);
    reached[above] += tree.total[i];
    assert.ok(reached[above] <= tree.start[above] + tree.total[above]);
    assert.ok(tree.end[i] > i && tree.end[i] <= tree.end[above]);
  }
});

test('a stack of 10,000 frames is read without recursion', () => {
  const rows = Array.from({ length: 10_000 }, (_, i) => /** @type {const} */ ([i, 'again', 1]));
  const tree = readTree(wireOf(rows));
  assert.equal(tree.rows, 10_001);
  assert.equal(tree.total[0], 10_000);
  assert.equal(listPath(tree, 10_000).length, 10_001);
});

test('what was folded is a box of its own, and the totals count it', () => {
  const wire = wireOf(
    [
      [0, 'main', 1],
      [1, 'a', 2],
      [2, 'b', 3],
      [1, 'c', 4],
    ],
    {
      folded: { at: [1, 0], count: [7, 2], total: [10, 20] },
    },
  );
  const tree = readTree(wire);
  assert.equal(tree.total[0], 1 + 2 + 3 + 4 + 10 + 20);
  assert.deepEqual([...tree.depth], [0, 1, 2, 3, 3, 2, 2]);
  assert.deepEqual([...tree.hidden], [0, 0, 0, 0, 7, 0, 2]);
  assert.deepEqual([...tree.total], [40, 40, 15, 3, 10, 4, 20]);
});

test('columns that contradict each other are rejected', () => {
  assert.throws(
    () =>
      readTree(
        wireOf([
          [0, 'a', 1],
          [2, 'b', 1],
        ]),
      ),
    UnreadableTree,
  );
  assert.throws(() => readTree({ ...example(), self: [1, 2] }), UnreadableTree);
});

test('values of a label are no functions: they have no package and few actions', () => {
  const rows = [
    [0, 'endpoint: /pay', 0],
    [1, 'main', 3],
    [0, 'endpoint: (not set)', 0],
    [1, 'main', 1],
  ];
  const wire = wireOf(rows, { split: { by: 'sample.endpoint', frames: [0, 2] } });
  wire.frames.package = [0, 0, 0];
  const tree = readTree(wire);
  const labels = Array.from({ length: tree.n }, (_, i) => i).filter((i) => isLabel(tree, i));
  assert.deepEqual(labels, [1, 3]);
  assert.deepEqual(
    labels.map((i) => tree.frames.package[tree.frame[i]]),
    [-1, -1],
  );
  assert.equal(tree.frames.package[tree.frame[2]], 0);
});
