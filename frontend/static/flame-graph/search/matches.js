/** Nodes that match a search, and the total of their stacks. */

/** @typedef {import("../tree/tree.js").Tree} Tree */

/**
 * Return the regular expression of a search between slashes; null for plain text.
 * @param {string} text
 */
export function parseExpression(text) {
  return text.length > 2 && text.startsWith('/') && text.endsWith('/') ? text.slice(1, -1) : null;
}

/**
 * Return the source of an expression that finds a text, for the browser and for the server.
 * @param {string} text
 */
export function escapeExpression(text) {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Return an expression that finds a text in any case. @param {string} text */
export function ignoreCase(text) {
  return `/(?i)${escapeExpression(text)}/`;
}

/**
 * Return the arguments of RegExp for an expression with flags at its beginning, as RE2 writes them: `(?i)rank`.
 * @param {string} expression
 * @returns {[source: string, flags: string]}
 */
export function separateFlags(expression) {
  const [written, flags = ''] = /^\(\?([ims]+)\)/.exec(expression) ?? [''];
  return [expression.slice(written.length), `u${flags}`];
}

/**
 * @typedef {object} Matches
 * @property {Uint8Array} nodes [n] 1 if the node's function matches
 * @property {number[]} order matching nodes, in the order of the graph
 * @property {number} functions number of distinct matching functions
 * @property {number} total of the stacks with a match, each counted once
 */

/**
 * @param {Tree} tree
 * @param {Uint8Array} names [names] 1 if the name matches
 * @returns {Matches}
 */
export function findMatches(tree, names) {
  const nodes = new Uint8Array(tree.n);
  const order = [];
  const found = new Set();
  let total = 0;
  let until = 0; // end of the latest match that is not below another match
  for (let i = tree.base ? 0 : 1; i < tree.n; i++) {
    const name = tree.frames.name[tree.frame[i]];
    if (tree.hidden[i] || !names[name]) continue;
    nodes[i] = 1;
    order.push(i);
    found.add(name);
    if (i < until) continue;
    total += tree.total[i];
    until = tree.end[i];
  }
  return { nodes, order, functions: found.size, total };
}

/**
 * Return 1 for each name that contains a text, else 0; case-sensitive.
 * @param {string[]} names
 * @param {string} text
 */
export function findNames(names, text) {
  return Uint8Array.from(names, (name) => (name.includes(text) ? 1 : 0));
}
