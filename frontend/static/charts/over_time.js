/**
 * Loading of the chart above the graph and of its scripts, after the graph: it never delays the call tree.
 *
 * `#over-time` has the chart's URL in `data-url`, and that of uPlot in `data-library`. A newer request
 * replaces an older one.
 */

import { showTimes } from '../shell/times.js';
import { loadLibrary } from './uplot.js';

/** @typedef {{morph: (before: Element, after: string, config: object) => Node[]}} Idiomorph */

const WAIT_MS = 250; // several zooms in a row make one request

let shown = ''; // URL of the shown chart
let requested = ''; // URL of the shown or requested chart
let loading = new AbortController();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * Show the chart of the page's selection, with a second series for a function, unless it is shown.
 * @param {string} name full name of a function; "" for the one that the page's URL focuses on
 */
export function showOverTime(name) {
  const box = document.querySelector('#over-time');
  if (!(box instanceof HTMLElement) || !box.dataset.url) return;
  const url = new URL(box.dataset.url, location.href);
  if (name) url.searchParams.set('function', name);
  if (url.href === requested && (url.href !== shown || box.querySelector('profile-strip'))) return;
  stopOverTime();
  requested = url.href;
  timer = setTimeout(() => load(box, url.href, loading.signal), shown ? WAIT_MS : 0);
}

/** Cancel a request that is pending: the page is about to request something else. */
export function stopOverTime() {
  clearTimeout(timer);
  loading.abort();
  loading = new AbortController();
  requested = shown;
}

/** @param {HTMLElement} box @param {string} url @param {AbortSignal} signal */
async function load(box, url, signal) {
  const [html, isDrawable] = await Promise.all([fetchChart(box, url, signal), loadChart(box.dataset.library ?? '')]);
  if (signal.aborted) return;
  shown = url;
  const { Idiomorph } = /** @type {{Idiomorph?: Idiomorph}} */ (/** @type {unknown} */ (globalThis));
  Idiomorph?.morph(box, html, { morphStyle: 'innerHTML', callbacks: { beforeNodeMorphed, beforeAttributeUpdated } });
  showTimes(box);
  box.dispatchEvent(new CustomEvent('over-time-load', { bubbles: true }));
  if (!isDrawable) box.querySelector('profile-strip')?.before(failureNote(box));
}

/** @param {string} library URL of uPlot @returns {Promise<boolean>} whether the scripts of the chart are loaded */
async function loadChart(library) {
  try {
    await loadLibrary(library);
    await import('./profile_strip.js'); // its element draws itself with uPlot
    return true;
  } catch (error) {
    reportError(error);
    return false;
  }
}

/** @param {HTMLElement} box */
function failureNote(box) {
  const note = document.createElement('p');
  note.className = 'small muted failed';
  note.setAttribute('role', 'status');
  note.textContent = box.dataset.failed ?? '';
  return note;
}

/**
 * Fetch the server's HTML; on failure return an escaped message instead.
 * @param {HTMLElement} box
 * @param {string} url
 * @param {AbortSignal} signal
 */
async function fetchChart(box, url, signal) {
  const note = failureNote(box);
  try {
    const response = await fetch(url, { credentials: 'same-origin', signal });
    const text = await response.text();
    if (response.ok && !response.redirected) return text;
    if ((response.headers.get('Content-Type') ?? '').startsWith('text/plain')) note.textContent = text;
  } catch {
    // aborted, or offline: the message says so
  }
  return note.outerHTML;
}

/**
 * Return false for the chart's element, which keeps its drawing; a new `data-plot` makes it draw again.
 * @param {Node} before
 * @param {Node} after
 */
function beforeNodeMorphed(before, after) {
  if (!(before instanceof HTMLElement) || !(after instanceof HTMLElement)) return true;
  if (!before.matches('profile-strip')) return true;
  const plot = after.dataset.plot ?? '';
  if (before.dataset.plot !== plot) before.dataset.plot = plot;
  return false;
}

/** Keep an opened data table open. @param {string} name @param {Element} element */
function beforeAttributeUpdated(name, element) {
  return name !== 'open' || !element.matches('details');
}
