/** Keyboard shortcuts of the compare page: search, matches, and actions on the marked frame. */

import { act, KEYS, buildNodeSubject } from '../flame-graph/menu/actions.js';
import { isForeignKey, showKeys, watchHelp } from '../page-controls/help.js';
import { copyLink } from '../page-controls/links.js';
import { openMenu } from '../flame-graph/menu/menu.js';
import { field, stepTo } from '../flame-graph/search/search.js';

/** @typedef {import("./diff_graph.js").FlameDiff} FlameDiff */

/** @type {Record<string, () => void>} */
const DEEDS = {
  '/': () => field()?.select(),
  n: () => stepTo(1),
  N: () => stepTo(-1),
  y: () => copyLink('absolute'),
  '?': showKeys,
};

/**
 * Return the subject of the context menu at a node.
 * @param {FlameDiff} graph
 * @param {number} node
 * @returns {import("../flame-graph/menu/menu.js").MenuTarget | null}
 */
export function buildMenuTarget(graph, node) {
  const subject = graph.tree && buildNodeSubject(graph.tree, node);
  const back = () => {
    graph.view?.focus();
    graph.reach(node);
  };
  return subject && { subject, back };
}

/** @param {Document} page @param {() => FlameDiff[]} graphs */
export function watchKeys(page, graphs) {
  watchHelp(page);
  page.addEventListener('keydown', (event) => {
    if (isForeignKey(event)) return;
    const graph = graphs().find((one) => one.marked >= 0);
    if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) {
      if (!graph?.mark || !graph.contains(page.activeElement)) return;
      const box = graph.mark.getBoundingClientRect();
      openMenu(buildMenuTarget(graph, graph.marked), box.left + 8, box.bottom);
    } else if (KEYS[event.key] && graph?.tree) {
      if (!act(KEYS[event.key], buildNodeSubject(graph.tree, graph.marked))) return;
    } else if (DEEDS[event.key]) DEEDS[event.key]();
    else return;
    event.preventDefault();
  });
}
