/** Cells of a heat map: position to cell, and the filter that a selection of cells stands for. */

/**
 * @typedef {object} Grid
 * @property {number} columns
 * @property {number} rows heaviest first
 * @property {number} start of the first column, ms since 1970
 * @property {number} step ms
 * @property {string[]} bounds of each row, "least..most"
 * @property {number[]} counts row by row
 */

/** @typedef {{ x: number, y: number }} Cell */

/** @typedef {{ x: number, y: number, width: number, height: number }} Box */

/** @param {DOMStringMap} data @returns {Grid} */
export function readGrid(data) {
  return {
    columns: Number(data.columns),
    rows: Number(data.rows),
    start: Number(data.start),
    step: Number(data.step),
    bounds: (data.bounds ?? '').split(' '),
    counts: (data.counts ?? '').split(' ').map(Number),
  };
}

/**
 * Return the cell at a position, or the nearest one if the position is outside.
 * @param {Grid} grid
 * @param {number} x share of the width
 * @param {number} y share of the height
 * @returns {Cell}
 */
export function findCell(grid, x, y) {
  return {
    x: clamp(Math.floor(x * grid.columns), grid.columns - 1),
    y: clamp(Math.floor(y * grid.rows), grid.rows - 1),
  };
}

/** @param {Grid} grid @param {Cell} cell @param {number} dx @param {number} dy @returns {Cell} */
export function moveCell(grid, cell, dx, dy) {
  return { x: clamp(cell.x + dx, grid.columns - 1), y: clamp(cell.y + dy, grid.rows - 1) };
}

/**
 * Return the cells from one to another, both included.
 * @param {Cell} a
 * @param {Cell} b
 * @returns {Box}
 */
export function buildBox(a, b) {
  const x = Math.min(a.x, b.x),
    y = Math.min(a.y, b.y);
  return { x, y, width: Math.abs(a.x - b.x) + 1, height: Math.abs(a.y - b.y) + 1 };
}

/** Return the number of profiles in a box. @param {Grid} grid @param {Box} box */
export function countProfiles(grid, box) {
  let sum = 0;
  for (let y = box.y; y < box.y + box.height; y++) {
    for (let x = box.x; x < box.x + box.width; x++) sum += grid.counts[y * grid.columns + x];
  }
  return sum;
}

/** @param {Grid} grid @param {Box} box @returns {[Date, Date]} */
export function getTimes(grid, box) {
  const from = grid.start + box.x * grid.step;
  return [new Date(from), new Date(from + box.width * grid.step)];
}

/** Return the weight range of a box as "least..most". @param {Grid} grid @param {Box} box */
function getWeightRange(grid, box) {
  const [, most] = grid.bounds[box.y].split('..');
  const [least] = grid.bounds[box.y + box.height - 1].split('..');
  return `${least}..${most}`;
}

/**
 * Return the URL changes that select these cells.
 * @param {Grid} grid
 * @param {Box} box
 * @returns {import('../shell/visit.js').Change[]}
 */
export function pickCells(grid, box) {
  const [from, to] = getTimes(grid, box);
  return [
    ['pick_from', from.toISOString()],
    ['pick_to', to.toISOString()],
    ['weights', getWeightRange(grid, box)],
  ];
}

/** @param {number} value @param {number} most */
function clamp(value, most) {
  return Math.min(Math.max(value, 0), most);
}
