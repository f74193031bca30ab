/** Elements around the graph that follow it: legend, breadcrumbs, and status messages. */

import { findElement } from '../../dom.js';
import { readColourBy } from '../packages/colours.js';
import { showCrumbs } from './crumbs.js';
import { FlameGraph } from '../graph/element.js';
import { showLegend } from './legend.js';
import { markInvisible } from '../../text.js';

const STATES = ['fg-wait', 'fg-failed', 'fg-missing'];

/** @returns {FlameGraph | null} */
export function graph() {
  const found = document.querySelector('#graph');
  return found instanceof FlameGraph ? found : null;
}

/**
 * Return all graphs of the page: the main one, and the callers' graph of a focused function.
 * @returns {FlameGraph[]}
 */
export function graphs() {
  return Array.from(document.querySelectorAll('#pane flame-graph')).filter((found) => found instanceof FlameGraph);
}

export function showGraphContext() {
  const flame = graph();
  const tree = flame?.data?.tree;
  const [legend, crumbs] = [findElement('#legend'), findElement('#crumbs')];
  if (!flame || !tree || !legend || !crumbs) return;
  showLegend(legend, findElement('#all-packages'), tree, readColourBy(flame.getAttribute('colour')));
  showCrumbs(crumbs, tree, flame.zoomed.node, (node) => flame.zoom(node));
}

/**
 * Mark the drawn graph as that of an earlier selection, or not.
 * @param {boolean} isStale
 */
export function showStale(isStale) {
  const [pane, words] = [findElement('#pane'), findElement('#pane-busy')];
  if (!pane || !words) return;
  pane.setAttribute('aria-busy', String(isStale));
  words.textContent = isStale ? (words.dataset.loading ?? '') : '';
}

/** Show one of the graph's status messages, or none. @param {string} which class of the message */
export function showState(which) {
  for (const name of STATES) {
    const box = findElement(`#graph .${name}`);
    if (box) box.hidden = name !== which;
  }
}

/**
 * Show the reason why there is no new tree: the server's sentence, or the page's for this reason.
 * @param {string} reason
 * @param {string} detail
 */
export function showFailure(reason, detail) {
  const box = findElement('#graph .fg-failed');
  const words = box?.querySelector('div');
  if (!box || !words) return;
  words.textContent = markInvisible(detail) || box.getAttribute(`data-${reason}`) || '';
  showState('fg-failed');
}

/** Set the colour mode of the graphs and of the colour menu. @param {string} by */
export function showColour(by) {
  for (const flame of graphs()) flame.setAttribute('colour', by);
  const menu = findElement('#colours');
  const options = menu instanceof HTMLSelectElement ? menu.options : [];
  // as the default too: a reset of the form returns to what is shown
  for (const option of options) option.selected = option.defaultSelected = readColourBy(option.value) === by;
  showGraphContext();
}

/** Set recursion folding of the graphs and of its switch. @param {boolean} folded */
export function showRecursion(folded) {
  for (const flame of graphs()) flame.toggleAttribute('recursion', folded);
  const box = findElement('#recursion');
  if (box instanceof HTMLInputElement) box.checked = folded;
}

/** Put the root at the top or the bottom; a focused function stays between its callers and callees. @param {boolean} flip */
export function showFlip(flip) {
  const flame = graph();
  flame?.toggleAttribute('flip', flip && !flame.hasAttribute('side'));
  const box = findElement('#flip');
  if (box instanceof HTMLInputElement) box.checked = flip;
}
