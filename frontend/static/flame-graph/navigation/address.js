/** Parameters of the page's URL that the graph handles itself; the server handles all others. */

import { buildAddress } from '../../shell/visit.js';

const OF_GRAPH = ['frame', 'colour', 'recursion', 'flip', 'search', 'lines'];
const OF_LIST = ['sort', 'all']; // parameters of the list beside the graph

/** @param {string} name @returns {string} "" if the URL has no such parameter */
export function getParameter(name) {
  return new URLSearchParams(location.search).get(name) ?? '';
}

/** Return the parameters that select the profiles, in a canonical order. @param {string} search */
export function getSelectionParameters(search) {
  const parameters = new URLSearchParams(search);
  for (const name of [...OF_GRAPH, 'seen']) parameters.delete(name);
  parameters.sort();
  return parameters.toString();
}

/** Return the parameters that select what the graph draws, in a canonical order. @param {string} search */
export function getTreeParameters(search) {
  const parameters = new URLSearchParams(getSelectionParameters(search));
  for (const name of OF_LIST) parameters.delete(name);
  return parameters.toString();
}

/** Replace a parameter in the current history entry. @param {string} name @param {string} value */
export function replaceAddress(name, value) {
  history.replaceState(history.state, '', buildAddress([[name, value]]));
}
