import assert from 'node:assert/strict';
import test from 'node:test';
import {
  buildBox,
  findCell,
  moveCell,
  pickCells,
  countProfiles,
  readGrid,
} from '../../../../frontend/static/heat-map/cells.js';

const GRID = readGrid({
  columns: '3',
  rows: '2',
  start: '1000',
  step: '500',
  bounds: '20..30 10..19',
  counts: '0 1 2 3 4 5',
});

test('a position outside the map is in the nearest cell', () => {
  assert.deepEqual(findCell(GRID, 0.5, 0.9), { x: 1, y: 1 });
  assert.deepEqual(findCell(GRID, -3, 7), { x: 0, y: 1 });
  assert.deepEqual(findCell(GRID, 1, 1), { x: 2, y: 1 });
});

test('one does not move out of the map', () => {
  assert.deepEqual(moveCell(GRID, { x: 2, y: 0 }, 1, -1), { x: 2, y: 0 });
});

test('a box is the same whichever way it was drawn', () => {
  const box = { x: 0, y: 0, width: 2, height: 2 };
  assert.deepEqual(buildBox({ x: 0, y: 1 }, { x: 1, y: 0 }), box);
  assert.deepEqual(buildBox({ x: 1, y: 0 }, { x: 0, y: 1 }), box);
  assert.equal(countProfiles(GRID, box), 0 + 1 + 3 + 4);
});

test('a pick has times and weights of the box', () => {
  assert.deepEqual(pickCells(GRID, { x: 1, y: 0, width: 2, height: 2 }), [
    ['pick_from', '1970-01-01T00:00:01.500Z'],
    ['pick_to', '1970-01-01T00:00:02.500Z'],
    ['weights', '10..30'],
  ]);
  assert.equal(pickCells(GRID, { x: 0, y: 0, width: 1, height: 1 })[2][1], '20..30');
});
