/** What can be done with a frame: from its tooltip, its menu, and by key. */

import { inAddress } from './address.js';
import { askFor } from './answers.js';
import { idOf } from './ids.js';
import { absoluteLink } from './links.js';
import { copyText } from './copying.js';
import { showLines } from './lines.js';
import { nameOf, pathTo } from './tree.js';

/** @typedef {import("./tree.js").Tree} Tree */

const LONGEST = 500; // characters of a filter's value

/** The value of a filter that matches this name. @param {string} name */
export function filterValue(name) {
  const expression = name.length > 2 && name.startsWith('/') && name.endsWith('/');
  if (!expression) return Array.from(name.slice(0, LONGEST)).join('').trimEnd() || name;
  return `/${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').slice(0, LONGEST - 2)}/`;
}

/** The page with another filter. @param {string} option @param {string} name */
export function addFilter(option, name) {
  void askFor((parameters) => {
    parameters.append('f', `${option}:${filterValue(name)}`);
    if (option === 'from' || option === 'hideframes') for (const gone of ['frame', 'root']) parameters.delete(gone);
  });
}

/** @param {string} name a function's whole name; "" leaves the focus */
export function focusOn(name) {
  void askFor((parameters) => {
    for (const gone of ['frame', 'root', 'focus', 'view']) parameters.delete(gone);
    if (name) parameters.set('focus', name);
  });
}

/** Callers first, a line each. @param {Tree} tree @param {number} node */
export function stackOf(tree, node) {
  return pathTo(tree, node).slice(1).map((at) => nameOf(tree, at)).join('\n');
}

/** @type {Record<string, (tree: Tree, node: number) => void>} */
const DEEDS = {
  focus: (tree, node) => focusOn(inAddress('focus') === nameOf(tree, node) ? '' : nameOf(tree, node)),
  from: (tree, node) => addFilter('from', nameOf(tree, node)),
  show: (tree, node) => addFilter('show', nameOf(tree, node)),
  hide: (tree, node) => addFilter('hide', nameOf(tree, node)),
  hideframes: (tree, node) => addFilter('hideframes', nameOf(tree, node)),
  highlight: (tree, node) => addFilter('highlight', nameOf(tree, node)),
  lines: (tree, node) => void showLines(tree, node),
  name: (tree, node) => void copyText(nameOf(tree, node), 'name'),
  stack: (tree, node) => void copyText(stackOf(tree, node), 'stack'),
  link: (tree, node) => void copyText(absoluteLink({ frame: idOf(tree, node) }), 'link'),
};

/** Of keys that act on the frame that is marked. @type {Record<string, string>} */
export const KEYS = { s: 'focus', f: 'from', '+': 'show', '-': 'hide', h: 'highlight', c: 'name', C: 'stack' };

/**
 * @param {string} act
 * @param {Tree} tree
 * @param {number} node
 * @returns {boolean} whether there was something to do: not with the service, or what is folded
 */
export function act(act, tree, node) {
  const deed = DEEDS[act];
  if (!deed || node < 0 || tree.hidden[node] || (node === 0 && !tree.base && act !== 'link')) return false;
  deed(tree, node);
  return true;
}
