/**
 * Search in the graph: highlights matches, dims the rest, and shows the matches' total.
 *
 * A new search goes to its first match; the keys n and N, the buttons and the map go to others.
 */

import { formatCount, formatPercent, formatValue } from '../../units.js';
import { getParameter, replaceAddress } from '../navigation/address.js';
import { followList } from '../navigation/function-list.js';
import { findElement } from '../../dom.js';
import { BadExpression, testNames } from './expression.js';
import { findNames, ignoreCase, parseExpression, findMatches } from './matches.js';
import { getNodeId, nodeWithId } from '../tree/ids.js';
import { insertValues } from '../../text.js';

/** @typedef {import("./matches.js").Matches} Matches */
/** @typedef {import("../tree/tree.js").Tree} Tree */

/**
 * @typedef {object} Searched a graph
 * @property {Tree | null} tree
 * @property {HTMLElement | undefined} view
 * @property {(found: Uint8Array | null) => void} dim
 * @property {(node: number) => void} reach
 * @property {(node: number) => void} [see] scroll to a match without zooming
 * @property {(node: number) => boolean} [covers] whether a node is within the zoomed range
 */

/** @type {() => Searched[]} matches are counted in the first */
let searched = () => [];

/** @type {Matches | null} */
let matches = null;
let at = -1; // index into matches.order of the current match
let current = ''; // its id
let gone = ''; // text of the search whose first match was gone to
let latest = 0; // number of the latest search; results of older ones are dropped

/** @returns {HTMLInputElement | null} */
export function field() {
  const found = findElement('#search');
  return found instanceof HTMLInputElement ? found : null;
}

/** Search for the field's text in the shown tree. */
export async function search() {
  if (isListAlone()) return;
  const [flame, ...others] = searched();
  const tree = flame?.tree;
  const text = field()?.value ?? '';
  const mine = ++latest;
  if (!flame || !tree) return;
  let names = null;
  let why = null;
  try {
    names = text ? await searchNames(tree, text) : null;
  } catch (error) {
    if (!(error instanceof BadExpression)) throw error;
    why = error.message;
  }
  if (mine !== latest || flame.tree !== tree) return;
  matches = names && findMatches(tree, names);
  flame.dim(matches?.nodes ?? null);
  if (text === gone) at = matches?.order.indexOf(nodeWithId(tree, current)) ?? -1;
  else goToFirst(flame);
  gone = text;
  for (const other of others) void dimLike(other, text, matches !== null);
  show(tree, text, why);
}

/** Return whether the page shows only the list, which the server searches as it has all rows. */
function isListAlone() {
  return document.querySelector('.work.only-list') !== null;
}

/** Go to the first match within the zoomed range, if there is one. @param {Searched} flame */
function goToFirst(flame) {
  at = flame.see && matches ? matches.order.findIndex((node) => flame.covers?.(node)) : -1;
  if (at >= 0 && matches) flame.see?.(matches.order[at]);
  current = getMatchId(flame);
}

/** Return the id of the current match; "" if there is none. @param {Searched} flame */
function getMatchId({ tree }) {
  return tree && matches && at >= 0 ? getNodeId(tree, matches.order[at]) : '';
}

/** @param {Tree} tree @param {string} text */
async function searchNames(tree, text) {
  const source = parseExpression(text);
  return source === null ? findNames(tree.names, text) : testNames(source, tree.names);
}

/**
 * Search in a further graph, such as the callers of a focused function.
 * @param {Searched} flame
 * @param {string} text
 * @param {boolean} any
 */
async function dimLike(flame, text, any) {
  const { tree } = flame;
  if (!tree) return;
  const names = any ? await searchNames(tree, text) : null;
  if (flame.tree === tree) flame.dim(names && findMatches(tree, names).nodes);
}

/** @param {Tree} tree @param {string} text @param {string | null} why the search is invalid */
function show(tree, text, why) {
  const box = findElement('#found');
  if (!box) return;
  box.hidden = !text;
  field()
    ?.closest('.field')
    ?.classList.toggle('bad', why !== null);
  const bad = why === '' ? box.dataset.slow : insertValues(box.dataset.unreadable ?? '', { why: why ?? '' });
  say(box, 'count', why === null ? countMatches(box) : '');
  say(box, 'matched', why === null ? sumMatches(box, tree) : (bad ?? ''));
  for (const button of box.querySelectorAll('[data-step]'))
    if (button instanceof HTMLElement) button.hidden = !matches?.order.length;
  const offer = box.querySelector('[data-ignore-case]');
  if (offer instanceof HTMLElement) offer.hidden = matches?.order.length !== 0 || !isInOtherCase(tree, text);
}

/** Return whether names have the text in upper or lower case only. @param {Tree} tree @param {string} text */
function isInOtherCase(tree, text) {
  const lower = text.toLowerCase();
  return parseExpression(text) === null && tree.names.some((name) => name.toLowerCase().includes(lower));
}

/** @param {HTMLElement} box */
function countMatches(box) {
  if (!matches?.order.length) return '';
  const values = { at: formatCount(at + 1), n: formatCount(matches.order.length) };
  if (at >= 0) return insertValues(box.dataset.found ?? '', values);
  const [flame] = searched();
  const outside = flame?.covers && !matches.order.some((node) => flame.covers?.(node));
  const all = matches.order.length === 1 ? box.dataset.one : box.dataset.all;
  return insertValues((outside ? box.dataset.outside : all) ?? '', values);
}

/** @param {HTMLElement} box @param {Tree} tree */
function sumMatches(box, tree) {
  if (!matches?.order.length) return box.dataset.none ?? '';
  const value = formatValue(matches.total / tree.profiles, tree.unit);
  return insertValues(box.dataset.matched ?? '', { value, share: formatPercent(matches.total, tree.total[0]) });
}

/** @param {HTMLElement} box @param {string} name @param {string} text */
function say(box, name, text) {
  const part = box.querySelector(`[data-part=${name}]`);
  if (!(part instanceof HTMLElement)) return;
  part.hidden = !text;
  if (part.textContent !== text) part.textContent = text;
}

/** Go to the next or the previous match. @param {1 | -1} step */
export function stepTo(step) {
  const [flame] = searched();
  if (!flame?.tree || !matches?.order.length) return;
  const count = matches.order.length;
  goTo(flame, at < 0 && step < 0 ? count - 1 : (at + step + count) % count);
}

/** @param {Searched} flame @param {number} index into matches.order */
function goTo(flame, index) {
  if (!matches) return;
  at = index;
  flame.reach(matches.order[at]);
  current = getMatchId(flame);
  const box = findElement('#found');
  if (box) say(box, 'count', countMatches(box));
}

/** @param {Document} page @param {() => Searched[]} graphs matches are counted in the first */
export function watchSearch(page, graphs) {
  searched = graphs;
  page.addEventListener('input', (event) => {
    if (event.target === field()) searchAnew();
  });
  page.addEventListener('keydown', (event) => {
    if (event.target !== field()) return;
    if (event.key === 'Enter') {
      event.preventDefault(); // prevent the form's submission
      stepTo(event.shiftKey ? -1 : 1);
    }
    if (event.key === 'Escape') clear();
  });
  page.addEventListener('flame-match', (event) => {
    const [flame] = searched();
    const node = event instanceof CustomEvent ? event.detail.node : -1;
    if (/** @type {unknown} */ (flame) === event.target) goTo(flame, matches?.order.indexOf(node) ?? -1);
  });
  page.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('#found [data-step]') : null;
    if (button) stepTo(button.getAttribute('data-step') === '1' ? 1 : -1);
    if (event.target instanceof Element && event.target.closest('#found [data-ignore-case]')) searchInAnyCase();
  });
}

/** Search for the field's text, after a change of it, in the graph and in the list. */
function searchAnew() {
  replaceAddress('search', field()?.value ?? '');
  followList();
  void search();
}

function searchInAnyCase() {
  const input = field();
  if (!input) return;
  input.value = ignoreCase(input.value);
  input.focus(); // the button is hidden
  searchAnew();
}

function clear() {
  const input = field();
  if (!input) return;
  input.value = '';
  searchAnew();
  searched()[0]?.view?.focus();
}

/** Search for the text in the URL, after navigation in the history. */
export function searchFromAddress() {
  const input = field();
  if (!input || input === document.activeElement) return;
  input.value = getParameter('search');
  void search();
}
