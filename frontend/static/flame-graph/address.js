/** The parameters of the page's address that the graph shows by itself; all others are the server's. */

import { addressWith } from '../shell/visit.js';

const OF_GRAPH = ['frame', 'colour', 'recursion', 'search'];

/** @param {string} name @returns {string} "" where the address has none */
export function inAddress(name) {
  return new URLSearchParams(location.search).get(name) ?? '';
}

/** The address without what the graph shows: the same for as long as the same profiles are shown. @param {string} search */
export function profilesOf(search) {
  const parameters = new URLSearchParams(search);
  for (const name of OF_GRAPH) parameters.delete(name);
  parameters.sort();
  return parameters.toString();
}

/** Changes the address in place of the entry of the history that is shown. @param {string} name @param {string} value */
export function replaceAddress(name, value) {
  history.replaceState(history.state, '', addressWith([[name, value]]));
}
