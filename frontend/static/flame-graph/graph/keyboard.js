/** Keyboard navigation in the graph. Tab is not handled: it always leaves the graph. */

/** @typedef {import("../tree/tree.js").Tree} Tree */
/** @typedef {import("../tree/rows.js").Rows} Rows */

/**
 * @typedef {object} Reader what the keys act on
 * @property {Tree} tree
 * @property {Rows} rows
 * @property {number} at the marked frame
 * @property {(node: number) => void} mark
 * @property {(node: number) => void} zoom
 * @property {() => void} out
 * @property {boolean} [flip] callees are above their callers
 */

/** @type {Record<string, (reader: Reader) => void>} */
const DEEDS = {
  ArrowDown: (reader) => reader.mark(heaviestCallee(reader.tree, reader.at)),
  ArrowUp: (reader) => reader.mark(Math.max(0, reader.tree.parent[reader.at])),
  ArrowLeft: (reader) => reader.mark(findSibling(reader, -1)),
  ArrowRight: (reader) => reader.mark(findSibling(reader, 1)),
  Enter: (reader) => reader.zoom(reader.at),
  Escape: (reader) => reader.out(),
  Home: (reader) => {
    reader.zoom(0);
    reader.mark(0);
  },
};

/** @type {Record<string, string>} */
const TURNED = { ArrowDown: 'ArrowUp', ArrowUp: 'ArrowDown' };

/**
 * @param {KeyboardEvent} event
 * @param {Reader} reader
 * @returns {boolean} whether the key was handled
 */
export function onKey(event, reader) {
  const deed =
    event.ctrlKey || event.metaKey || event.altKey ? undefined : DEEDS[(reader.flip && TURNED[event.key]) || event.key];
  if (!deed) return false;
  event.preventDefault();
  deed(reader);
  return true;
}

/**
 * @param {Tree} tree
 * @param {number} node
 * @returns {number} the node itself if it has no callees
 */
export function heaviestCallee(tree, node) {
  let best = node;
  let most = 0;
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
    if (tree.total[child] > most) {
      best = child;
      most = tree.total[child];
    }
  }
  return best;
}

/**
 * Return the next frame of the same level to the left or right.
 * @param {Reader} reader
 * @param {-1 | 1} step
 */
function findSibling({ tree, rows, at }, step) {
  const row = tree.depth[at];
  const index = rows.nodes.subarray(rows.first[row], rows.first[row + 1]).indexOf(at) + step;
  const count = rows.first[row + 1] - rows.first[row];
  return index < 0 || index >= count ? at : rows.nodes[rows.first[row] + index];
}
