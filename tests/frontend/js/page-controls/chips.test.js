// Replacement of a filter in a URL, at its position.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { replaceFilter } from '../../../../frontend/static/page-controls/chips.js';

test('a changed filter stays at its position', () => {
  assert.deepEqual(replaceFilter(['show:a', 'hide:b', 'from:c'], 'hide:b', 'show:x'), ['show:a', 'show:x', 'from:c']);
});

test('nothing takes it out', () => {
  assert.deepEqual(replaceFilter(['show:a', 'hide:b'], 'show:a', ''), ['hide:b']);
});

test('one that is not in the address is added', () => {
  assert.deepEqual(replaceFilter([], 'show:a', 'show:b'), ['show:b']);
});
