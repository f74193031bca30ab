/** Loading of trees; a newer request cancels the older one. */

import { readTree, UnreadableTree } from './tree.js';

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {"offline" | "signed-out" | "gone" | "rejected" | "failed" | "unreadable"} Reason */

/** Reason why a tree could not be loaded; the page has a sentence for each. */
export class LoadError extends Error {
  /** @param {Reason} reason @param {string} detail error message of the server, if any */
  constructor(reason, detail = '') {
    super(detail || reason);
    this.reason = reason;
    this.detail = detail;
  }
}

/**
 * @param {string} url
 * @param {AbortSignal} signal
 * @param {string} [side] callers or callees: the tree to return of a focused function
 * @returns {Promise<Tree>}
 * @throws {LoadError}
 */
export async function loadTree(url, signal, side = '') {
  return parseTree(await requestOnce(url, signal), side);
}

/** @typedef {{text: Promise<string>, stop: AbortController, users: number}} Flight */

/** @type {Map<string, Flight>} in-flight requests: one response has both sides of a focus */
const flights = new Map();

/** @param {string} url @param {AbortSignal} signal @returns {Promise<string>} */
async function requestOnce(url, signal) {
  const flight = flights.get(url) ?? startRequest(url);
  flight.users++;
  signal.addEventListener('abort', () => {
    if (--flight.users > 0) return;
    flights.delete(url);
    flight.stop.abort();
  });
  return flight.text;
}

/** @param {string} url @returns {Flight} */
function startRequest(url) {
  const stop = new AbortController();
  const text = fetchText(url, stop.signal).finally(() => flights.get(url) === flight && flights.delete(url));
  const flight = { text, stop, users: 0 };
  flights.set(url, flight);
  return flight;
}

/** @param {string} url @param {AbortSignal} signal */
async function fetchText(url, signal) {
  const response = await fetchTree(url, signal);
  if (response.redirected || response.status === 401 || response.status === 403) throw new LoadError('signed-out');
  if (response.status === 404) throw new LoadError('gone');
  if (!response.ok)
    throw new LoadError(response.status < 500 ? 'rejected' : 'failed', await readErrorMessage(response));
  return response.text();
}

/** @typedef {{url: string, response: Promise<Response>, stop: AbortController}} EarlyTree */

/** @type {{earlyTree?: EarlyTree}} the request of early-tree.js, until it is taken */
const early = /** @type {object} */ (globalThis);

/** @type {Map<string, string>} URLs of the whole tree of an early request, by the page's URL */
const merges = new Map();

/** Return a URL of a tree without the name of the merge that it is of. @param {string} url */
function removeVersion(url) {
  const address = new URL(url, location.href);
  address.searchParams.delete('seen');
  address.searchParams.delete('preview');
  return address.href;
}

/** @param {string} url @param {AbortSignal} signal @returns {Promise<Response> | undefined} */
function earlyResponse(url, signal) {
  const { earlyTree } = early;
  delete early.earlyTree;
  if (!earlyTree || removeVersion(earlyTree.url) !== removeVersion(url)) return undefined;
  merges.set(url, earlyTree.url.replace('&preview=1', ''));
  signal.addEventListener('abort', () => earlyTree.stop.abort());
  return earlyTree.response;
}

/**
 * Return the URL that names the merge whose preview was loaded, so that it is not made again.
 * @param {string} url
 */
function takeMergeUrl(url) {
  const found = merges.get(url) ?? url;
  merges.delete(url);
  return found;
}

/** @param {string} url @param {AbortSignal} signal */
async function fetchTree(url, signal) {
  try {
    const response = earlyResponse(url, signal);
    if (response) return await response;
    return await fetch(takeMergeUrl(url), {
      signal,
      headers: { Accept: 'application/json' },
      credentials: 'same-origin',
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new LoadError('offline');
  }
}

/** @param {Response} response */
async function readErrorMessage(response) {
  const json = (response.headers.get('Content-Type') ?? '').startsWith('application/json');
  const said = json ? await response.json().catch(() => ({})) : {};
  return typeof said.error === 'string' ? said.error : '';
}

/** @param {string} text @param {string} side */
function parseTree(text, side) {
  try {
    const document = JSON.parse(text);
    const tree = readTree(side && document[side] ? buildSide(document, document[side]) : document);
    performance.mark('flame-decoded');
    return tree;
  } catch (error) {
    if (error instanceof UnreadableTree || error instanceof SyntaxError || error instanceof TypeError) {
      throw new LoadError('unreadable', error.message);
    }
    throw error;
  }
}

/**
 * @param {object} document
 * @param {{depth: number[]}} columns
 * @returns {import("./tree.js").WireTree}
 */
function buildSide(document, columns) {
  const wire = /** @type {unknown} */ ({ ...document, ...columns, base: columns.depth.length > 0 });
  return /** @type {import("./tree.js").WireTree} */ (wire);
}
