import assert from 'node:assert/strict';
import test from 'node:test';

import { chooseColours, FOLDED, TOKENS } from '../../../../../frontend/static/flame-graph/packages/colours.js';
import { getLabel } from '../../../../../frontend/static/flame-graph/packages/labels.js';
import { foldRecursion } from '../../../../../frontend/static/flame-graph/tree/recursion.js';
import { readTree } from '../../../../../frontend/static/flame-graph/tree/tree.js';
import { example, wireOf } from '../../trees.js';

const tokens = (tree, by) => [...chooseColours(tree, by)].map((index) => TOKENS[index]);

const PACKAGES = [
  { name: 'shop', path: 'shop', kind: 'own', colour: 'own-2', self: 6, area: 6 },
  { name: 'django', path: 'django', kind: 'library', colour: 'lib-rest', self: 3, area: 3 },
];

test('frames have the colours of their packages, the root is grey', () => {
  const wire = example();
  wire.packages = PACKAGES;
  wire.frames.package = [0, 0, 1, 0]; // main, foo1, bar, foo2
  for (const tree of [readTree(wire), foldRecursion(readTree(wire))]) {
    assert.deepEqual(tokens(tree, 'package'), ['native', 'own-2', 'own-2', 'lib-rest', 'own-2', 'lib-rest']);
  }
});

test('frames of a document without packages are grey', () => {
  assert.deepEqual(new Set(tokens(readTree(example()), 'package')), new Set(['native']));
});

test('a label has the package in place of the prefix that the name has', () => {
  const wire = wireOf([[0, 'acme.dev/shop/pricing.(*Rule).Match', 1]], { packages: PACKAGES });
  wire.frames.package = [0];
  wire.frames.prefix = [22];
  const { whole, narrow, leaf } = getLabel(readTree(wire), 1);
  assert.deepEqual([whole, narrow, leaf], ['shop · (*Rule).Match', '(*Rule).Match · shop', 13]);
});

test('by self, the frame with most of it is hottest and one without any is coldest', () => {
  const tree = readTree(
    wireOf([
      [0, 'main', 0],
      [1, 'a', 100],
      [1, 'b', 1],
      [1, 'c', 50],
    ]),
  );
  assert.deepEqual(tokens(tree, 'self'), ['heat-0', 'heat-0', 'heat-5', 'heat-1', 'heat-3']);
});

test('by total, the root is hottest', () => {
  assert.deepEqual(tokens(readTree(example()), 'total'), ['heat-5', 'heat-5', 'heat-3', 'heat-2', 'heat-2', 'heat-2']);
});

test('folded boxes have a colour of their own in every view', () => {
  const tree = readTree(wireOf([[0, 'main', 1]], { folded: { at: [0], count: [3], total: [9] } }));
  for (const by of ['package', 'self', 'total']) assert.equal(chooseColours(tree, by)[2], FOLDED);
});
