/**
 * Call tree of docs/reference/api.md ("tree") as typed arrays.
 *
 * Parents, totals and offsets are derived. Node 0 is an added root: the whole service.
 */

/**
 * @typedef {object} Package
 * @property {string} name as shown
 * @property {string} path identity: differs for packages of equal names
 * @property {"own" | "library" | "stdlib" | "native" | "unknown"} kind
 * @property {string} colour one of PACKAGE_TOKENS of packages/colours.js
 * @property {number} self self value of its functions in the whole selection
 * @property {number} area sum of its functions' totals: the size of its frames in a graph; 0 for
 * packages without a share of the selection
 */

/**
 * @typedef {object} WireTree
 * @property {string} service
 * @property {string} type
 * @property {{name: string, unit: string}} metric
 * @property {number} profiles number of merged profiles; values are sums over them
 * @property {string[]} names
 * @property {string[]} files
 * @property {{name: number[], file: number[], line?: number[], package?: number[], prefix?: number[]}} frames indexes
 * into names, files and packages, and the number of UTF-16 units at the name's beginning that are its package
 * @property {number[]} frame of each node, index into frames
 * @property {number[]} depth 0 for roots
 * @property {number[]} self
 * @property {number[]} [highlight] rows that match a highlight filter
 * @property {boolean} [base] the first row is the only root, in place of the service
 * @property {string | null} [root] id of the only root, if the tree is a subtree
 * @property {{at: number[], count: number[], total: number[]}} folded omitted children
 * @property {{by: string, frames: number[]}} [split] frames that are values of a label, not functions
 * @property {Package[]} [packages] packages of the whole selection, largest self value first, then further packages of frames
 * @property {boolean} [preview] only the largest nodes
 */

/**
 * @typedef {object} FrameTable parallel columns
 * @property {Int32Array} name index into names
 * @property {Int32Array} file index into files
 * @property {Int32Array} line 0 if unknown
 * @property {Int32Array} package index into packages; -1 for frames that are no functions
 * @property {Int32Array} prefix number of UTF-16 units at the name's beginning that are its package
 */

/**
 * @typedef {object} Tree columns in pre-order, n entries each; values are sums over the profiles
 * @property {number} n
 * @property {number} rows number of levels
 * @property {string[]} names
 * @property {string[]} files
 * @property {FrameTable} frames distinct frames; the last two are the service and folded nodes
 * @property {Set<number>} labels frames that are values of the label that splits the tree
 * @property {Int32Array} frame index into frames
 * @property {Int32Array} depth
 * @property {Int32Array} parent -1 for node 0
 * @property {Int32Array} end index after the node's last descendant
 * @property {Float64Array} self
 * @property {Float64Array} total
 * @property {Float64Array} start offset from the left edge, in the unit of total
 * @property {Int32Array} hidden number of folded nodes that this box stands for; 0 for a frame
 * @property {Uint8Array | null} highlight [n] 1 if highlighted; null without such filters
 * @property {boolean} base node 0 is a function, not the whole service
 * @property {string} root id of the node below the service if the tree is a subtree, else ""
 * @property {number} profiles
 * @property {string} unit
 * @property {string} service
 * @property {string} type
 * @property {Package[]} packages
 * @property {boolean} preview only the largest nodes of the tree; `hidden` counts the others
 */

export class UnreadableTree extends Error {}

/**
 * @param {WireTree} wire
 * @returns {Tree}
 * @throws {UnreadableTree} if its columns contradict each other
 */
export function readTree(wire) {
  const length = wire.depth.length;
  check(wire, length);
  const n = (wire.base ? 0 : 1) + length + wire.folded.at.length;
  const tree = emptyTree(wire, n);
  fill(tree, wire);
  derive(tree);
  return tree;
}

/** @param {WireTree} wire @param {number} length */
function check(wire, length) {
  const same = wire.frame.length === length && wire.self.length === length;
  if (!same || wire.frames.name.length !== wire.frames.file.length)
    throw new UnreadableTree('columns differ in length');
  if (wire.base && wire.depth.lastIndexOf(0) !== 0) throw new UnreadableTree('there is not one root');
}

/**
 * Return the frames with two added ones: the service's, and that of folded nodes.
 * @param {WireTree} wire
 * @returns {Tree["frames"]}
 */
function readFrames(wire) {
  const { name, file, line } = wire.frames;
  const packages = column(wire.frames.package ?? new Array(name.length).fill(-1), -1, -1);
  for (const label of wire.split?.frames ?? []) packages[label] = -1;
  const [service, none] = [wire.names.length, wire.files.length];
  return {
    name: column(name, service, service + 1),
    file: column(file, none, none),
    line: column(line ?? new Array(name.length).fill(0), 0, 0),
    package: packages,
    prefix: column(wire.frames.prefix ?? new Array(name.length).fill(0), 0, 0),
  };
}

/** @param {number[]} values @param {number} service @param {number} folded */
function column(values, service, folded) {
  const found = new Int32Array(values.length + 2);
  found.set(values);
  found.set([service, folded], values.length);
  return found;
}

/** @param {WireTree} wire @param {number} n @returns {Tree} */
function emptyTree(wire, n) {
  return {
    n,
    rows: 0,
    names: [...wire.names, wire.service, ''],
    files: [...wire.files, ''],
    frames: readFrames(wire),
    labels: new Set(wire.split?.frames),
    frame: new Int32Array(n),
    depth: new Int32Array(n),
    parent: new Int32Array(n),
    end: new Int32Array(n),
    self: new Float64Array(n),
    total: new Float64Array(n),
    start: new Float64Array(n),
    hidden: new Int32Array(n),
    highlight: wire.highlight ? new Uint8Array(n) : null,
    base: Boolean(wire.base),
    root: wire.root ?? '',
    profiles: wire.profiles,
    unit: wire.metric.unit,
    service: wire.service,
    type: wire.type,
    packages: wire.packages ?? [],
    preview: Boolean(wire.preview),
  };
}

/**
 * Copy the rows, and add a box for folded children after the last child of their row.
 * @param {Tree} tree whose depths are still those of the JSON, which do not count the added root
 * @param {WireTree} wire
 */
function fill(tree, wire) {
  tree.frame[0] = wire.frames.name.length;
  const nodes = wire.folded.at.length ? copyWithFoldedNodes(tree, wire) : null;
  const down = tree.base ? 0 : 1;
  if (!nodes) {
    tree.frame.set(wire.frame, down);
    tree.depth.set(wire.depth, down);
    tree.self.set(wire.self, down);
  }
  for (const row of wire.highlight ?? []) if (tree.highlight) tree.highlight[nodes ? nodes[row] : row + down] = 1;
}

/**
 * Copy the rows, and add a node for the folded children of a row at the end of its subtree.
 * @param {Tree} tree
 * @param {WireTree} wire
 * @returns {Int32Array} node of each row
 */
function copyWithFoldedNodes(tree, wire) {
  const { frame, depth, self } = wire;
  const { length } = depth;
  const nodeOfRow = new Int32Array(length);
  // for each row: index + 1 of its entry in wire.folded, or 0
  const entries = new Int32Array(length);
  wire.folded.at.forEach((row, i) => (entries[row] = i + 1));
  const openRows = new Int32Array(tree.n); // rows with folded children whose subtree is still open
  let openCount = 0;
  let node = tree.base ? 0 : 1;
  for (let row = 0; row <= length; row++) {
    const level = row < length ? depth[row] : -1;
    while (openCount && depth[openRows[openCount - 1]] >= level) {
      const closed = openRows[--openCount];
      fillFolded(tree, wire, node++, closed, entries[closed] - 1);
    }
    if (row === length) break;
    tree.frame[node] = frame[row];
    tree.depth[node] = level;
    tree.self[node] = self[row];
    nodeOfRow[row] = node++;
    if (entries[row]) openRows[openCount++] = row;
  }
  return nodeOfRow;
}

/**
 * @param {Tree} tree
 * @param {WireTree} wire
 * @param {number} node
 * @param {number} row whose children are folded
 * @param {number} entry index into the columns of wire.folded
 */
function fillFolded(tree, wire, node, row, entry) {
  tree.frame[node] = wire.frames.name.length + 1;
  tree.depth[node] = wire.depth[row] + 1;
  tree.self[node] = wire.folded.total[entry];
  tree.hidden[node] = wire.folded.count[entry];
}

/**
 * Derive levels and parents in pre-order, totals and ends in reverse order, then offsets.
 *
 * Running sums are kept per level: these arrays are short, whereas a parent's entry could be
 * anywhere in memory.
 * @param {Tree} tree
 */
function derive(tree) {
  tree.rows = deriveParents(tree) + 1;
  deriveTotals(tree);
  deriveOffsets(tree);
}

/**
 * Derive parents; nodes below the service move one level down.
 * @param {Tree} tree
 * @returns {number} the deepest level
 */
function deriveParents({ n, base, depth, parent }) {
  const down = base ? 0 : 1;
  const last = new Int32Array(n + 1); // latest node of each level
  parent[0] = -1;
  let deepest = 0;
  for (let i = 1, above = 0; i < n; i++) {
    const level = depth[i] + down;
    if (level < 1 || level > above + 1) throw new UnreadableTree(`a level is missing before ${level}`);
    depth[i] = above = level;
    parent[i] = last[level - 1];
    last[level] = i;
    if (level > deepest) deepest = level;
  }
  return deepest;
}

/** @param {Tree} tree */
function deriveTotals({ n, rows, depth, self, total, end }) {
  // of the nodes seen since the latest one of the level above
  const sums = new Float64Array(rows + 1);
  const counts = new Int32Array(rows + 1); // of these nodes and their descendants
  for (let i = n - 1; i >= 0; i--) {
    const level = depth[i];
    total[i] = self[i] + sums[level + 1];
    end[i] = i + 1 + counts[level + 1];
    sums[level] += total[i];
    counts[level] += end[i] - i;
    sums[level + 1] = 0;
    counts[level + 1] = 0;
  }
}

/** @param {Tree} tree */
function deriveOffsets({ n, rows, depth, total, start }) {
  const next = new Float64Array(rows + 1); // offset of the next node of each level
  for (let i = 0; i < n; i++) {
    const level = depth[i];
    start[i] = next[level];
    next[level + 1] = start[i];
    next[level] += total[i];
  }
}

/** Return the frame's name, as transferred. @param {Tree} tree @param {number} node */
export function getName(tree, node) {
  return tree.names[tree.frames.name[tree.frame[node]]];
}

/** Return whether the frame is a value of a label, not a function. @param {Tree} tree @param {number} node */
export function isLabel(tree, node) {
  return tree.labels.has(tree.frame[node]);
}

/** Return the frame's file; "" if unknown. @param {Tree} tree @param {number} node */
export function getFile(tree, node) {
  return tree.files[tree.frames.file[tree.frame[node]]];
}

/** Return the frame's line; 0 if unknown. @param {Tree} tree @param {number} node */
export function getLine(tree, node) {
  return tree.frames.line[tree.frame[node]];
}

/**
 * @param {Tree} tree
 * @param {number} node
 * @returns {number[]} the node and its callers, root first
 */
export function listPath(tree, node) {
  const path = [];
  for (let at = node; at >= 0; at = tree.parent[at]) path.push(at);
  return path.reverse();
}
