import assert from 'node:assert/strict';
import test from 'node:test';

import { coloursOf, FOLDED, TOKENS } from '../../../../../frontend/static/flame-graph/packages/colours.js';
import { readTree } from '../../../../../frontend/static/flame-graph/tree/tree.js';
import { example, wireOf } from '../../trees.js';

const tokens = (tree, by) => [...coloursOf(tree, by)].map((index) => TOKENS[index]);

test('frames of one package have one colour, the root is grey', () => {
  const [root, ...frames] = tokens(readTree(example()), 'package');
  assert.equal(root, 'native');
  assert.equal(new Set(frames).size, 1);
  assert.match(frames[0], /^own-\d$/);
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
  for (const by of ['package', 'self', 'total']) assert.equal(coloursOf(tree, by)[2], FOLDED);
});
