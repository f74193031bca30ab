import assert from 'node:assert/strict';
import test from 'node:test';

import { findNames, parseExpression, findMatches } from '../../../../../frontend/static/flame-graph/search/matches.js';
import { readTree } from '../../../../../frontend/static/flame-graph/tree/tree.js';
import { wireOf } from '../../trees.js';

test('a stack with several matches counts once', () => {
  const tree = readTree(
    wireOf([
      [0, 'main', 1],
      [1, 'walk', 2],
      [2, 'walk', 4],
      [1, 'other', 8],
      [2, 'walk', 16],
    ]),
  );
  const found = findMatches(tree, findNames(tree.names, 'walk'));
  assert.equal(found.total, 2 + 4 + 16);
  assert.equal(found.functions, 1);
  assert.deepEqual(found.order, [2, 3, 5]);
  assert.deepEqual([...found.nodes], [0, 0, 1, 1, 0, 1]);
});

test('what is folded has no name to be found by', () => {
  const tree = readTree(wireOf([[0, 'main', 1]], { folded: { at: [0], count: [3], total: [9] } }));
  assert.deepEqual(findMatches(tree, findNames(tree.names, '')).order, [1]);
});

test('an expression stands between slashes, as in filters', () => {
  assert.equal(parseExpression('/a|b/'), 'a|b');
  for (const text of ['/a', 'a/', '//', '', '/']) assert.equal(parseExpression(text), null);
});
