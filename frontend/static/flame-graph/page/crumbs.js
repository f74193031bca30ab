/**
 * Breadcrumbs of the graph: the service, the callers of the frame at full width, and that frame.
 */

import { formatCount, formatPercent } from '../../units.js';
import { getLabel } from '../packages/labels.js';
import { insertValues, markInvisible } from '../../text.js';
import { listPath } from '../tree/tree.js';

/** @typedef {import("../tree/tree.js").Tree} Tree */

const SHOWN_CALLERS = 3; // an ellipsis stands for the others

/**
 * @param {HTMLElement} bar
 * @param {Tree} tree
 * @param {number} node at full width
 * @param {(node: number) => void} zoom
 */
export function showCrumbs(bar, tree, node, zoom) {
  const path = listPath(tree, node);
  const named = (/** @type {number} */ at) => markInvisible(getLabel(tree, at).whole);
  /** @type {Node[]} */
  const parts = [];
  if (node)
    parts.push(
      link(named(0), '', () => zoom(0)),
      span('›', ''),
    );
  if (path.length > SHOWN_CALLERS + 2) parts.push(span('…', ''), span('›', ''));
  for (const at of path.slice(1, -1).slice(-SHOWN_CALLERS)) {
    parts.push(
      link(named(at), ' via', () => zoom(at)),
      span('›', 'via'),
    );
  }
  // The line below names a focused function.
  const here = node || !tree.base || tree.root ? named(node) : markInvisible(tree.service);
  parts.push(span(here, node ? 'mono here strong' : 'mono here'));
  bar.replaceChildren(...parts, span(describeCounts(bar, tree), 'push'));
}

/**
 * Return a sentence with the number of frames, and of folded ones with their share.
 * @param {HTMLElement} bar
 * @param {Tree} tree
 */
function describeCounts(bar, tree) {
  let boxes = 0;
  let hidden = 0;
  let total = 0;
  for (let i = 1; i < tree.n; i++) {
    if (!tree.hidden[i]) continue;
    boxes++;
    hidden += tree.hidden[i];
    total += tree.total[i];
  }
  const values = {
    frames: formatCount(tree.n - 1 - boxes),
    hidden: formatCount(hidden),
    share: formatPercent(total, tree.total[0]),
  };
  return insertValues((hidden ? bar.dataset.folded : bar.dataset.frames) ?? '', values);
}

/** @param {string} text @param {string} className */
function span(text, className) {
  const element = document.createElement('span');
  if (className) element.className = className;
  element.textContent = text;
  return element;
}

/**
 * @param {string} text
 * @param {string} more further CSS classes
 * @param {() => void} deed on click
 */
function link(text, more, deed) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = `mono${more}`;
  button.textContent = text;
  button.addEventListener('click', deed);
  return button;
}
