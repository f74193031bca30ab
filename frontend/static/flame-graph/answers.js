/** The page's requests: with the graph's part of the address, in UTC, and with words when one fails. */

import { addGraph } from './address.js';
import { element } from './around.js';
import { momentToUtc } from './moments.js';

/** @typedef {{ajax: (method: string, url: string, context: object) => Promise<void>}} Htmx */

const htmx = /** @type {{htmx?: Htmx}} */ (/** @type {unknown} */ (globalThis)).htmx;
const QUIET = { 'HX-History-Restore-Request': 'true' }; // nothing is pushed to the history

/**
 * Asks for the page as its address has it, without a new entry in the history.
 * @param {Record<string, string>} [values] further parameters
 */
export async function askQuietly(values = {}) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value);
  await htmx?.ajax('GET', url.pathname + url.search, { target: '#flame', swap: 'outerMorph', headers: QUIET });
}

/**
 * Asks for another page, with a new entry in the history.
 * @param {(parameters: URLSearchParams) => void} change
 */
export async function askFor(change) {
  const url = new URL(location.href);
  change(url.searchParams);
  await htmx?.ajax('GET', url.pathname + url.search, { target: '#flame', swap: 'outerMorph' });
}

/** @param {Event} event @returns {any} htmx's context of a request */
function contextOf(event) {
  return event instanceof CustomEvent ? event.detail.ctx : undefined;
}

/** Whether an answer changes the page: one that says that there is nothing new does not. @param {Event} event of a swap */
export function changesPage(event) {
  return contextOf(event)?.swap !== 'none';
}

document.addEventListener('htmx:config:request', (event) => {
  const request = contextOf(event)?.request;
  if (!request || request.method !== 'GET' || !(request.body instanceof FormData)) return;
  if (new URL(request.action, location.href).pathname !== location.pathname) return;
  momentToUtc(request.body);
  addGraph(request.body);
});

// A session that ended sends every request to the sign-in page: so must the person go.
document.addEventListener('htmx:before:response', (event) => {
  if (!contextOf(event)?.response?.raw?.redirected) return;
  event.preventDefault();
  location.reload();
});

document.addEventListener('htmx:before:request', () => say(''));

document.addEventListener('htmx:response:error', (event) => {
  say(contextOf(event)?.response?.status === 404 ? 'gone' : 'failed');
});

document.addEventListener('htmx:error', (event) => {
  const error = event instanceof CustomEvent ? event.detail.error : undefined;
  if (error?.name !== 'AbortError') say('offline'); // the newer request took its place
});

/** @param {string} reason "" takes what was said away */
function say(reason) {
  const box = element('#flame-failed');
  const words = box?.querySelector('div');
  if (!box || !words) return;
  words.textContent = box.getAttribute(`data-${reason}`) ?? '';
  box.hidden = !reason;
}
