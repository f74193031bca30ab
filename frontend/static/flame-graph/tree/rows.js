/** Nodes of each level from left to right, for binary search when hovering and drawing. */

/** @typedef {import("./tree.js").Tree} Tree */

/**
 * @typedef {object} Rows
 * @property {Int32Array} first [rows + 1] index in `nodes` where each level starts
 * @property {Int32Array} nodes [n] by level, then from left to right
 */

/** @param {Tree} tree @returns {Rows} */
export function groupRows({ n, rows, depth }) {
  const first = new Int32Array(rows + 1);
  for (let i = 0; i < n; i++) first[depth[i] + 1]++;
  for (let row = 0; row < rows; row++) first[row + 1] += first[row];
  const next = first.slice();
  const nodes = new Int32Array(n);
  for (let i = 0; i < n; i++) nodes[next[depth[i]]++] = i;
  return { first, nodes };
}

/** Return whether a graph has the callers of a focused function. @param {Element} graph */
export function isCallers(graph) {
  return graph.getAttribute('side') === 'callers';
}

/**
 * Return the number of drawn levels.
 *
 * A callers' graph omits the function itself, which is the root of its callees' graph below.
 * @param {Tree} tree
 * @param {boolean} callers
 */
export function countLevels(tree, callers) {
  return callers && !tree.root ? tree.rows - 1 : tree.rows;
}

/**
 * Return the line of the graph, from the top, that has a level of the tree, and the reverse.
 * @param {Tree} tree
 * @param {number} row
 * @param {boolean} flip the root is at the bottom
 */
export function getRowLine(tree, row, flip) {
  return flip ? tree.rows - 1 - row : row;
}

/**
 * Return the index in `rows.nodes` of the first node of a level that ends right of `x`.
 *
 * Return the level's end if there is none.
 * @param {Tree} tree
 * @param {Rows} rows
 * @param {number} row
 * @param {number} x offset in the unit of total
 */
export function findFirstRight(tree, rows, row, x) {
  let low = rows.first[row];
  let high = rows.first[row + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const node = rows.nodes[middle];
    if (tree.start[node] + tree.total[node] > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * @param {Tree} tree
 * @param {Rows} rows
 * @param {number} row
 * @param {number} x offset in the unit of total
 * @returns {number} the node there, or -1
 */
export function findNode(tree, rows, row, x) {
  if (row < 0 || row >= tree.rows) return -1;
  const index = findFirstRight(tree, rows, row, x);
  if (index >= rows.first[row + 1]) return -1;
  const node = rows.nodes[index];
  return tree.start[node] <= x ? node : -1;
}
