/** Subject of the context menu in a flame graph. */

import { buildNodeSubject } from './actions.js';
import { FlameGraph } from '../graph/element.js';

/**
 * @param {FlameGraph} flame
 * @param {number} node
 * @returns {import("./menu.js").MenuTarget | null}
 */
export function buildMenuTarget(flame, node) {
  const tree = flame.data?.tree;
  const subject = tree ? buildNodeSubject(tree, node) : null;
  const back = () => {
    flame.view?.focus();
    flame.reach(node);
  };
  return subject && { subject, back };
}

/** @param {MouseEvent} event @param {Element} target */
export function findMenuTarget(event, target) {
  const flame = target.closest('flame-graph[data-menu]');
  if (!(flame instanceof FlameGraph)) return null;
  return buildMenuTarget(
    flame,
    event.button === 2 || !flame.pointing ? flame.findNodeUnder(event) : flame.pointing.marked,
  );
}
