/**
 * Ids of nodes, as docs/decisions/0003-ids.md defines them: 64-bit hashes of a node's path.
 *
 * They are not transferred but computed when a URL needs one. 64-bit numbers are two halves of 32
 * bits here for speed: a tree of 100,000 nodes is searched by id while its page opens.
 */

/** @typedef {import("./tree.js").Tree} Tree */

/** @typedef {{high: Int32Array, low: Int32Array}} Ids */

// Result of the latest operation.
let high = 0;
let low = 0;

/** @param {number} h @param {number} l */
function set(h, l) {
  high = h | 0;
  low = l | 0;
}

/** Multiply (high, low) by another number, modulo 2⁶⁴. @param {number} h @param {number} l */
function times(h, l) {
  const [a0, a1] = [low & 0xffff, low >>> 16];
  const [b0, b1] = [l & 0xffff, l >>> 16];
  const middle = a0 * b1 + ((a0 * b0) >>> 16); // below 2³², like `other`
  const other = a1 * b0 + (middle & 0xffff);
  const carried = a1 * b1 + (middle >>> 16) + (other >>> 16);
  set(carried + Math.imul(high, l) + Math.imul(low, h), Math.imul(low, l));
}

/** Compute x ^= x >> by. @param {number} by 1 … 31 */
function fold(by) {
  set(high ^ (high >>> by), low ^ ((low >>> by) | (high << (32 - by))));
}

function mix() {
  fold(30);
  times(0xbf58476d, 0x1ce4e5b9);
  fold(27);
  times(0x94d049bb, 0x133111eb);
  fold(31);
}

/** Combine (high, low) with another id. @param {number} h @param {number} l */
function pair(h, l) {
  times(0x9e3779b9, 0x7f4a7c15);
  const sum = (low >>> 0) + (l >>> 0);
  set(high + h + (sum > 0xffffffff ? 1 : 0), sum);
  mix();
}

const utf8 = new TextEncoder();

/** @param {string} text */
function hashText(text) {
  const bytes = utf8.encode(text);
  const words = new DataView(new ArrayBuffer((bytes.length & ~7) + 8));
  new Uint8Array(words.buffer).set(bytes);
  set(0x9e3779b9, 0x7f4a7c15 ^ bytes.length);
  for (let at = 0; at < words.byteLength; at += 8) {
    set(high ^ words.getInt32(at + 4, true), low ^ words.getInt32(at, true));
    mix();
  }
}

/** @param {number} length @returns {Ids} */
function allocateIds(length) {
  return { high: new Int32Array(length), low: new Int32Array(length) };
}

/** @param {Ids} ids @param {number} at */
function keep(ids, at) {
  ids.high[at] = high;
  ids.low[at] = low;
}

/** @param {string[]} texts @returns {Ids} */
function textIds(texts) {
  const ids = allocateIds(texts.length);
  texts.forEach((text, i) => {
    hashText(text);
    keep(ids, i);
  });
  return ids;
}

/** @type {WeakMap<Tree, Ids>} */
const idsByTree = new WeakMap();

/** Return the ids of a tree's frames. @param {Tree} tree @returns {Ids} */
function frameIds(tree) {
  const found = idsByTree.get(tree);
  if (found) return found;
  const { name, file, line } = tree.frames;
  const [names, files] = [textIds(tree.names), textIds(tree.files)];
  const ids = allocateIds(name.length);
  for (let i = 0; i < name.length; i++) {
    set(names.high[name[i]], names.low[name[i]]);
    pair(files.high[file[i]], files.low[file[i]]);
    pair(0, line[i]);
    keep(ids, i);
  }
  idsByTree.set(tree, ids);
  return ids;
}

/**
 * Compute a node's id from its caller's id in (high, low).
 * @param {Tree} tree
 * @param {number} node
 * @param {Ids} frames
 */
function step(tree, node, frames) {
  const first = tree.base ? node === 0 : tree.parent[node] === 0;
  if (tree.root && first) setHex(tree.root);
  else pair(frames.high[tree.frame[node]], frames.low[tree.frame[node]]);
}

/** @param {string} hex 16 digits */
function setHex(hex) {
  set(parseInt(hex.slice(0, 8), 16), parseInt(hex.slice(8), 16));
}

/**
 * Return a node's id.
 * @param {Tree} tree
 * @param {number} node
 * @returns {string} 16 hexadecimal digits; "" for the service and for folded nodes
 */
export function getNodeId(tree, node) {
  const least = tree.base ? 0 : 1;
  if (node < least || tree.hidden[node]) return '';
  const frames = frameIds(tree);
  const path = [];
  for (let at = node; at >= least; at = tree.parent[at]) path.push(at);
  set(0, 0);
  for (const at of path.reverse()) step(tree, at, frames);
  const digits = (/** @type {number} */ half) => (half >>> 0).toString(16).padStart(8, '0');
  return digits(high) + digits(low);
}

/**
 * Return the node with this id; 0 if the tree has none.
 * @param {Tree} tree
 * @param {string} id
 */
export function nodeWithId(tree, id) {
  if (!/^[0-9a-f]{16}$/.test(id)) return 0;
  setHex(id);
  const [wantedHigh, wantedLow] = [high, low];
  const frames = frameIds(tree);
  const ids = allocateIds(tree.n);
  for (let node = tree.base ? 0 : 1; node < tree.n; node++) {
    const above = tree.parent[node];
    if (above < 0) set(0, 0);
    else set(ids.high[above], ids.low[above]);
    step(tree, node, frames);
    if (high === wantedHigh && low === wantedLow && !tree.hidden[node]) return node;
    keep(ids, node);
  }
  return 0;
}
