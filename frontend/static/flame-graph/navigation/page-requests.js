/** Requests for the flame page's contents, which are morphed into the page; a notice if one fails. */

import { findElement } from '../../dom.js';
import { markInvisible } from '../../text.js';

/**
 * @typedef {object} Htmx
 * @property {(method: string, url: string, context: object) => Promise<void>} ajax
 * @property {(target: Element, name: string) => void} trigger
 * @property {(name: string, extension: object) => void} defineExtension
 */
/** @typedef {{morph: (before: Element, after: HTMLCollection, config: object) => Node[]}} Idiomorph */

/** @type {{htmx?: Htmx, Idiomorph?: Idiomorph}} Idiomorph is loaded after the bundle of this module */
const libraries = /** @type {object} */ (globalThis);
const { htmx } = libraries;

/**
 * Request the page at its current URL; a newer request replaces an older one.
 * @param {string} [seen] version tag of the shown result; if it is current, the server responds with 204
 */
export async function requestPage(seen = '') {
  const url = new URL(location.href);
  if (seen) url.searchParams.set('seen', seen);
  const request = htmx?.ajax('GET', url.pathname + url.search, { source: '#flame', target: '#flame', swap: 'morph' });
  await request?.catch(() => undefined); // the event listeners below report the reason of a failure
}

/** Request the function list. @param {URL} url */
export async function requestList(url) {
  const address = url.pathname + url.search;
  const request = htmx?.ajax('GET', address, { source: '#functions', target: '#functions', swap: 'morph' });
  await request?.catch(() => undefined); // as above
}

/** Abort a running request, as the URL again matches what is shown. */
export function abortRequest() {
  const page = findElement('#flame');
  if (page) htmx?.trigger(page, 'htmx:abort');
}

/**
 * Return whether a response changes the page: 204 and errors do not.
 * @param {Event} event before or after a swap
 */
export function changesPage(event) {
  const detail = event instanceof CustomEvent ? event.detail : {};
  return detail.shouldSwap !== false && detail.target?.id === 'flame';
}

/** @param {Element} before @param {Element} after */
function takeAttributes(before, after) {
  for (const { name } of [...before.attributes]) {
    if (!after.hasAttribute(name) && name !== 'style') before.removeAttribute(name);
  }
  for (const { name, value } of after.attributes) {
    if (before.getAttribute(name) !== value) before.setAttribute(name, value);
  }
}

/**
 * Skip elements drawn by scripts; with `data-morph-skip-children` update the attributes only.
 * @param {Node} before
 * @param {Node} after
 */
function mayMorph(before, after) {
  if (!(before instanceof Element) || !(after instanceof Element)) return true;
  if (before.hasAttribute('data-morph-skip')) return false;
  if (!before.hasAttribute('data-morph-skip-children')) return true;
  takeAttributes(before, after);
  return false;
}

/**
 * Keep the user's state: open menus, and input typed in them.
 * @param {string} name
 * @param {Element} element
 */
function mayUpdate(name, element) {
  if (name === 'open') return !element.matches('details[data-menu]');
  return name !== 'value' || !element.closest('details[data-menu][open]');
}

const CONFIG = {
  morphStyle: 'outerHTML',
  callbacks: { beforeNodeMorphed: mayMorph, beforeAttributeUpdated: mayUpdate },
};

/** Return whether a field has the focus: its value stays, where the content of a button would stay too. */
function isBeingEdited() {
  return document.activeElement?.matches('input, select, textarea') ?? false;
}

htmx?.defineExtension('morph', {
  isInlineSwap: (/** @type {string} */ style) => style === 'morph',
  handleSwap: (/** @type {string} */ style, /** @type {Element} */ target, /** @type {DocumentFragment} */ fragment) =>
    style === 'morph' && libraries.Idiomorph
      ? libraries.Idiomorph.morph(target, fragment.children, { ...CONFIG, ignoreActiveValue: isBeingEdited() })
      : false,
});

/**
 * Say why a request failed, and call back if it was for the page.
 * @param {Document} page
 * @param {() => void} failed
 */
export function watchFailures(page, failed) {
  /** @param {Event} event @param {string} reason @param {string} [sentence] */
  const tell = (event, reason, sentence) => {
    say(reason, sentence);
    if (event instanceof CustomEvent && event.detail.target?.id === 'flame') failed();
  };
  page.addEventListener('htmx:beforeRequest', () => say(''));
  page.addEventListener('htmx:responseError', (event) => {
    const xhr = event instanceof CustomEvent ? event.detail.xhr : null;
    tell(event, REASONS[xhr?.status] ?? 'failed', findErrorSentence(xhr));
  });
  page.addEventListener('htmx:sendError', (event) => tell(event, 'offline'));
  page.addEventListener('htmx:timeout', (event) => tell(event, 'offline'));
}

/** @type {Record<number, string>} reasons by status, which the page has sentences for */
const REASONS = { 404: 'gone', 429: 'busy', 503: 'busy' };

/** Return the sentence of a busy server, which says when to come back. @param {XMLHttpRequest | null} xhr */
function findErrorSentence(xhr) {
  if (!xhr) return '';
  const isOurs =
    xhr.getResponseHeader('Retry-After') && xhr.getResponseHeader('Content-Type')?.startsWith('text/plain');
  return isOurs ? markInvisible(xhr.responseText) : '';
}

/** @param {string} reason "" removes the notice @param {string} [sentence] in place of the page's */
function say(reason, sentence = '') {
  const box = findElement('#flame-failed');
  const words = box?.querySelector('div');
  if (!box || !words) return;
  words.textContent = sentence || (box.getAttribute(`data-${reason}`) ?? '');
  box.hidden = !reason;
}
