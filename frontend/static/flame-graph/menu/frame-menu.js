/** Subject of the context menu in a flame graph. */

import { subjectOf } from './actions.js';
import { FlameGraph } from '../graph/element.js';

/**
 * @param {FlameGraph} flame
 * @param {number} node
 * @returns {import("./menu.js").MenuTarget | null}
 */
export function menuTargetOf(flame, node) {
  const tree = flame.data?.tree;
  const subject = tree ? subjectOf(tree, node) : null;
  const back = () => {
    flame.view?.focus();
    flame.reach(node);
  };
  return subject && { subject, back };
}

/** @param {MouseEvent} event @param {Element} target */
export function targetAt(event, target) {
  const flame = target.closest('flame-graph[data-menu]');
  if (!(flame instanceof FlameGraph)) return null;
  return menuTargetOf(flame, event.button === 2 || !flame.pointing ? flame.under(event) : flame.pointing.marked);
}
