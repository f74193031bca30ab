import assert from 'node:assert/strict';
import test from 'node:test';

import { emitRowBoxes, NARROWEST } from '../../../../../frontend/static/flame-graph/graph/boxes.js';
import { findNode, groupRows } from '../../../../../frontend/static/flame-graph/tree/rows.js';
import { getName, readTree } from '../../../../../frontend/static/flame-graph/tree/tree.js';
import { example, randomRows, wireOf } from '../../trees.js';

const boxes = (tree, row, span) => {
  const found = [];
  emitRowBoxes(tree, groupRows(tree), row, span, (node, x, width, count) => found.push({ node, x, width, count }));
  return found;
};

test("the documentation's example is drawn 900, 400, 300, 250 and 250 wide", () => {
  const tree = readTree(example());
  const drawn = [1, 2, 3].map((row) =>
    boxes(tree, row, { from: 0, to: 900, width: 900 }).map(({ node, x, width }) => [getName(tree, node), x, width]),
  );
  assert.deepEqual(drawn, [
    [['main', 0, 900]],
    [
      ['foo1', 0, 400],
      ['foo2', 400, 300],
    ],
    [
      ['bar', 0, 250],
      ['bar', 400, 250],
    ],
  ]);
});

test('a zoomed node has the whole width, and so have its callers, cut at the edges', () => {
  const tree = readTree(example());
  const span = { from: 400, to: 700, width: 600 };
  assert.deepEqual(
    boxes(tree, 2, span).map(({ x, width }) => [x, width]),
    [[0, 600]],
  );
  assert.deepEqual(
    boxes(tree, 1, span).map(({ x, width }) => [x, width]),
    [[-800, 1800]],
  );
});

test('nodes too narrow to draw are one box that names the heaviest and counts them all', () => {
  const rows = [[0, 'main', 0], ...Array.from({ length: 1000 }, (_, i) => [1, `f${i}`, i === 500 ? 3 : 1])];
  const tree = readTree(wireOf(rows));
  const [box, ...more] = boxes(tree, 2, { from: 0, to: tree.total[0], width: 100 });
  assert.equal(more.length, 0);
  assert.equal(box.count, 1000);
  assert.equal(getName(tree, box.node), 'f500');
  assert.ok(Math.abs(box.width - 100) < 1e-9);
});

test('no node is left out: the boxes of a row count all of its nodes and cover their width', () => {
  const tree = readTree(wireOf(randomRows(20_000, 40, 3)));
  const rows = groupRows(tree);
  const span = { from: 0, to: tree.total[0], width: 800 };
  for (let row = 0; row < tree.rows; row++) {
    const drawn = boxes(tree, row, span);
    const inRow = [...rows.nodes.subarray(rows.first[row], rows.first[row + 1])].filter((node) => tree.total[node] > 0);
    const counted = drawn.reduce((sum, box) => sum + box.count, 0);
    assert.ok(counted >= inRow.length, `row ${row}: ${counted} of ${inRow.length}`);
    assert.ok(drawn.every((box) => box.width >= NARROWEST));
    assert.ok(drawn.length <= 800 / NARROWEST + 1);
  }
});

test('the node under a point is the one whose box is there', () => {
  const tree = readTree(wireOf(randomRows(5000, 30, 11)));
  const rows = groupRows(tree);
  for (let node = 0; node < tree.n; node++) {
    if (!tree.total[node]) continue;
    assert.equal(findNode(tree, rows, tree.depth[node], tree.start[node]), node);
    assert.equal(findNode(tree, rows, tree.depth[node], tree.start[node] + tree.total[node] / 2), node);
  }
});

test('where nothing is drawn there is no node', () => {
  const tree = readTree(example());
  const rows = groupRows(tree);
  assert.equal(findNode(tree, rows, 2, 750), -1); // the self time of main
  assert.equal(findNode(tree, rows, 9, 10), -1);
  assert.equal(findNode(tree, rows, -1, 10), -1);
  assert.equal(findNode(tree, rows, 0, 900), -1);
});
