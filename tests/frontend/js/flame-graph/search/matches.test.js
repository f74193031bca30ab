import assert from 'node:assert/strict';
import test from 'node:test';

import {
  findMatches,
  findNames,
  ignoreCase,
  parseExpression,
  separateFlags,
} from '../../../../../frontend/static/flame-graph/search/matches.js';
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

/** @param {string} expression */
function compile(expression) {
  return new RegExp(...separateFlags(expression));
}

test('flags at the beginning of an expression apply, as on the server', () => {
  assert.ok(compile('(?i)^RULE').test('Rule.matches'));
  assert.ok(!compile('^RULE').test('Rule.matches'));
  assert.throws(() => compile('(?x)rule'));
});

test('a text is found in any case, whatever its characters', () => {
  const text = 'a.b*[c](d)|{e}^$+?\\/é-';
  const source = parseExpression(ignoreCase(text));
  assert.ok(source !== null && compile(source).test(text.toUpperCase()));
  assert.ok(!compile(source).test(text.replace('.', 'x')));
});
