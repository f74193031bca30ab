import assert from 'node:assert/strict';
import test from 'node:test';

import { matchedLevels, nearestMatch } from '../../../../../frontend/static/flame-graph/graph/match-map.js';
import { findNames, findMatches } from '../../../../../frontend/static/flame-graph/search/matches.js';
import { readTree } from '../../../../../frontend/static/flame-graph/tree/tree.js';
import { wireOf } from '../../trees.js';

// service 15 → main 15 → (find 4 → x 3), (y 6 → find 5), (find 2)
const tree = readTree(
  wireOf([
    [0, 'main', 3],
    [1, 'find', 1],
    [2, 'x', 3],
    [1, 'y', 1],
    [2, 'find', 5],
    [1, 'find', 2],
  ]),
);
const found = findMatches(tree, findNames(tree.names, 'find')).nodes;
const whole = { tree, found, from: 0, to: tree.total[0] };

test('levels with matches are marked, apart from those outside the zoomed range', () => {
  assert.deepEqual([...matchedLevels(whole)], [0, 0, 2, 2]);
  const first = { ...whole, from: tree.start[2], to: tree.start[2] + tree.total[2] };
  assert.deepEqual([...matchedLevels(first)], [0, 0, 2, 1]);
});

test('a click goes to the nearest level, there to the heaviest match, within the range first', () => {
  assert.equal(nearestMatch(whole, 0.2), 2);
  assert.equal(nearestMatch(whole, 3.9), 5);
  const last = { ...whole, from: tree.start[6], to: tree.start[6] + tree.total[6] };
  assert.equal(nearestMatch(last, 2.5), 6);
  assert.equal(nearestMatch({ ...whole, found: new Uint8Array(tree.n) }, 1), -1);
});
