/** Keyboard shortcuts of the whole page; keyboard.js has those that move through the graph. */

import { visit } from '../../shell/visit.js';
import { act, KEYS, buildNodeSubject } from '../menu/actions.js';
import { getParameter } from '../navigation/address.js';
import { findElement } from '../../dom.js';
import { graphs } from './graph-pane.js';
import { isForeignKey, showKeys, watchHelp } from '../../page-controls/help.js';
import { copyLink } from '../../page-controls/links.js';
import { openMenu } from '../menu/menu.js';
import { buildMenuTarget } from '../menu/frame-menu.js';
import { field, stepTo } from '../search/search.js';

/** @type {Record<string, () => void>} */
const DEEDS = {
  '/': () => field()?.select(),
  n: () => stepTo(1),
  N: () => stepTo(-1),
  i: () => view('bottomup'),
  l: () => view('list'),
  r: () => findElement('#recursion')?.click(),
  v: () => findElement('#flip')?.click(),
  y: () => copyLink('absolute'),
  '?': showKeys,
};

/** Switch to a view, or back to the flame graph. @param {string} name */
function view(name) {
  visit('view', getParameter('view') === name ? '' : name);
}

/** Return the graph with the marked frame, first that under the pointer. */
function pointed() {
  const marked = graphs().filter((flame) => (flame.pointing?.marked ?? -1) >= 0);
  return marked.find((flame) => flame.pointing?.marked !== flame.pointing?.chosen) ?? marked[0];
}

/** @param {KeyboardEvent} event */
function press(event) {
  if (isForeignKey(event)) return;
  if ((event.key === 'F10' && event.shiftKey) || event.key === 'ContextMenu') return menu(event);
  const flame = pointed();
  const tree = flame?.data?.tree;
  const deed = KEYS[event.key];
  if (deed && flame && tree && act(deed, buildNodeSubject(tree, flame.pointing?.marked ?? -1))) event.preventDefault();
  else if (DEEDS[event.key]) {
    event.preventDefault();
    DEEDS[event.key]();
  }
}

/** @param {KeyboardEvent} event */
function menu(event) {
  const flame = pointed();
  if (!flame?.pointing || !flame.contains(document.activeElement)) return;
  event.preventDefault();
  const box = flame.pointing.box.getBoundingClientRect();
  openMenu(buildMenuTarget(flame, flame.pointing.marked), box.left + 8, box.bottom);
}

/** @param {Document} page */
export function watchKeys(page) {
  page.addEventListener('keydown', press);
  watchHelp(page);
}
