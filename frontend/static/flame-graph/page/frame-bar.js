/** Bar above the graph with the values of the chosen frame, its source, and its actions. */

import { can, buildNodeSubject } from '../menu/actions.js';
import { findElement } from '../../dom.js';
import { formatSourceLine, showSource } from '../graph/source.js';
import { formatValues } from '../graph/tooltip.js';

/** @typedef {import("../tree/tree.js").Tree} Tree */
/** @typedef {import("../menu/actions.js").Subject} Subject */

/** @type {Subject | null} */
let chosen = null;

/** Return the subject of the bar's actions. */
export function getChosenSubject() {
  return chosen;
}

/**
 * Show a frame, or the hint if there is none.
 * @param {Tree | null} tree
 * @param {number} node -1 for none
 * @param {number} view the node at full width
 */
export function showFrame(tree, node, view) {
  const bar = findElement('#frame-bar');
  chosen = tree && node >= 0 ? buildNodeSubject(tree, node) : null;
  if (!bar) return;
  bar.toggleAttribute('data-at-view', chosen !== null && node === view); // the path names it
  for (const part of bar.children) part.toggleAttribute('hidden', part.matches('[data-hint]') === (chosen !== null));
  if (!tree || !chosen) return;
  const values = formatValues(tree, node, view, '');
  for (const part of bar.querySelectorAll('[data-bar]')) part.textContent = values[part.getAttribute('data-bar') ?? ''];
  showSource(bar, formatSourceLine(tree, node));
  for (const button of bar.querySelectorAll('[data-act]')) {
    button.toggleAttribute('hidden', !can(button.getAttribute('data-act') ?? '', chosen));
  }
}
