import assert from 'node:assert/strict';
import test from 'node:test';

import { heaviestCallee, onKey } from '../../../../../frontend/static/flame-graph/graph/keyboard.js';
import { groupRows } from '../../../../../frontend/static/flame-graph/tree/rows.js';
import { readTree } from '../../../../../frontend/static/flame-graph/tree/tree.js';
import { example } from '../../trees.js';

const [ROOT, MAIN, FOO1, BAR1, FOO2, BAR2] = [0, 1, 2, 3, 4, 5];

const pressed = (key, at, more = {}, flip = false) => {
  const tree = readTree(example());
  const did = {};
  const event = { key, preventDefault: () => (did.prevented = true), ...more };
  const reader = {
    tree,
    rows: groupRows(tree),
    at,
    mark: (node) => (did.mark = node),
    zoom: (node) => (did.zoom = node),
    out: () => (did.out = true),
    flip,
  };
  onKey(event, reader);
  return did;
};

test('down goes to the heaviest callee, up to the caller', () => {
  assert.equal(pressed('ArrowDown', MAIN).mark, FOO1);
  assert.equal(pressed('ArrowDown', BAR2).mark, BAR2);
  assert.equal(pressed('ArrowUp', FOO2).mark, MAIN);
  assert.equal(pressed('ArrowUp', ROOT).mark, ROOT);
  assert.equal(heaviestCallee(readTree(example()), MAIN), FOO1);
});

test('left and right go along the level', () => {
  assert.equal(pressed('ArrowRight', FOO1).mark, FOO2);
  assert.equal(pressed('ArrowLeft', FOO2).mark, FOO1);
  assert.equal(pressed('ArrowLeft', FOO1).mark, FOO1);
  assert.equal(pressed('ArrowRight', BAR1).mark, BAR2);
});

test('where the root is at the foot, up goes to callees', () => {
  assert.equal(pressed('ArrowUp', MAIN, {}, true).mark, FOO1);
  assert.equal(pressed('ArrowDown', FOO2, {}, true).mark, MAIN);
});

test('Enter zooms, Escape goes a step back, Home shows everything again', () => {
  assert.equal(pressed('Enter', FOO2).zoom, FOO2);
  assert.deepEqual(pressed('Escape', FOO2), { out: true, prevented: true });
  assert.deepEqual(pressed('Home', FOO2), { zoom: ROOT, mark: ROOT, prevented: true });
});

test("Tab and the browser's own shortcuts are left alone", () => {
  assert.deepEqual(pressed('Tab', FOO2), {});
  assert.deepEqual(pressed('ArrowLeft', FOO2, { altKey: true }), {});
});
