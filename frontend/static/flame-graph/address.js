/**
 * The page's address: what is at full width (`frame`), its colour and recursion, and what is searched
 * for are told by the graph; everything else by the server.
 */

const OF_GRAPH = ['frame', 'colour', 'recursion', 'search'];

/** @param {string} name @returns {string} "" where the address has none */
export function inAddress(name) {
  return new URLSearchParams(location.search).get(name) ?? '';
}

/** The address without what the graph tells: the same for as long as the same profiles are shown. @param {string} search */
export function profilesOf(search) {
  const parameters = new URLSearchParams(search);
  for (const name of OF_GRAPH) parameters.delete(name);
  parameters.sort();
  return parameters.toString();
}

/**
 * A new entry of the history with a parameter changed; "" takes it out.
 * @param {string} name
 * @param {string} value
 */
export function pushAddress(name, value) {
  const url = changed(name, value);
  if (url.href !== location.href) history.pushState({ flame: true }, '', url);
}

/** The same in place of the entry that is shown. @param {string} name @param {string} value */
export function replaceAddress(name, value) {
  history.replaceState(history.state, '', changed(name, value));
}

/** @param {string} name @param {string} value */
function changed(name, value) {
  const url = new URL(location.href);
  if (value) url.searchParams.set(name, value);
  else url.searchParams.delete(name);
  return url;
}

/**
 * Adds what the graph tells to a request for the page, so that the answer agrees with it.
 * @param {FormData} body
 */
export function addGraph(body) {
  for (const name of OF_GRAPH) {
    const value = inAddress(name);
    if (value) body.set(name, value);
    else body.delete(name);
  }
}
