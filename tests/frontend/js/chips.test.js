// A filter in an address is changed in its place.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { replaceFilter } from '../../../frontend/static/flame-graph/chips.js';

const changed = (address, before, after) => {
  const parameters = new URLSearchParams(address);
  replaceFilter(parameters, before, after);
  return parameters.getAll('f');
};

test('it keeps its place among the others', () => {
  assert.deepEqual(changed('f=show:a&f=hide:b&f=from:c', 'hide:b', 'show:x'), ['show:a', 'show:x', 'from:c']);
});

test('nothing takes it out', () => {
  assert.deepEqual(changed('f=show:a&f=hide:b', 'show:a', ''), ['hide:b']);
});

test('that of a form without a script is one of them', () => {
  assert.deepEqual(changed('f=show:a&f.option=hide&f.value=b', 'hide:b', 'hide:c'), ['show:a', 'hide:c']);
});

test('one that is not in the address is added', () => {
  assert.deepEqual(changed('', 'show:a', 'show:b'), ['show:b']);
});
