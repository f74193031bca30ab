/** Search in the graph: highlights matches, dims the rest, and shows the matches' total. */

import { formatCount, formatPercent, formatValue } from '../units.js';
import { inAddress, replaceAddress } from './address.js';
import { requestPage } from './page-requests.js';
import { element } from './around.js';
import { BadExpression, tested } from './expression.js';
import { containing, expressionOf, matchesOf } from './matches.js';
import { filled } from './text.js';

/** @typedef {import("./matches.js").Matches} Matches */
/** @typedef {import("./tree.js").Tree} Tree */

/**
 * @typedef {object} Searched a graph
 * @property {Tree | null} tree
 * @property {HTMLElement | undefined} view
 * @property {(found: Uint8Array | null) => void} dim
 * @property {(node: number) => void} reach
 */

/** @type {() => Searched[]} matches are counted in the first */
let searched = () => [];

/** @type {Matches | null} */
let matches = null;
let at = -1; // index into matches.order of the current match
let latest = 0; // number of the latest search; results of older ones are dropped

const PAUSE_MS = 250; // pause in typing before the server is queried
let pause = 0;

/** @returns {HTMLInputElement | null} */
export function field() {
  const found = element('#search');
  return found instanceof HTMLInputElement ? found : null;
}

/** Search for the field's text in the shown tree. */
export async function search() {
  if (isListAlone()) return;
  const [flame, ...others] = searched();
  const tree = flame?.tree;
  const text = field()?.value ?? '';
  const mine = ++latest;
  at = -1;
  if (!flame || !tree) return;
  let names = null;
  let why = null;
  try {
    names = text ? await named(tree, text) : null;
  } catch (error) {
    if (!(error instanceof BadExpression)) throw error;
    why = error.message;
  }
  if (mine !== latest || flame.tree !== tree) return;
  matches = names && matchesOf(tree, names);
  flame.dim(matches?.nodes ?? null);
  for (const other of others) void dimLike(other, text, matches !== null);
  show(tree, text, why);
}

/** Return whether the page shows only the list, which the server searches as it has all rows. */
function isListAlone() {
  return document.querySelector('.work.only-list') !== null;
}

function searchList() {
  clearTimeout(pause);
  pause = setTimeout(() => void requestPage(), PAUSE_MS);
}

/** @param {Tree} tree @param {string} text */
async function named(tree, text) {
  const source = expressionOf(text);
  return source === null ? containing(tree.names, text) : tested(source, tree.names);
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
  const names = any ? await named(tree, text) : null;
  if (flame.tree === tree) flame.dim(names && matchesOf(tree, names).nodes);
}

/** @param {Tree} tree @param {string} text @param {string | null} why the search is invalid */
function show(tree, text, why) {
  const box = element('#found');
  if (!box) return;
  box.hidden = !text;
  field()
    ?.closest('.field')
    ?.classList.toggle('bad', why !== null);
  const bad = why === '' ? box.dataset.slow : filled(box.dataset.unreadable ?? '', { why: why ?? '' });
  say(box, 'count', why === null ? counted(box) : '');
  say(box, 'matched', why === null ? summed(box, tree) : (bad ?? ''));
  for (const button of box.querySelectorAll('button')) button.hidden = !matches?.order.length;
}

/** @param {HTMLElement} box */
function counted(box) {
  if (!matches?.order.length) return '';
  const values = { at: formatCount(at + 1), n: formatCount(matches.order.length) };
  const all = matches.order.length === 1 ? box.dataset.one : box.dataset.all;
  return filled((at < 0 ? all : box.dataset.found) ?? '', values);
}

/** @param {HTMLElement} box @param {Tree} tree */
function summed(box, tree) {
  if (!matches?.order.length) return box.dataset.none ?? '';
  const value = formatValue(matches.total / tree.profiles, tree.unit);
  return filled(box.dataset.matched ?? '', { value, share: formatPercent(matches.total, tree.total[0]) });
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
  at = at < 0 && step < 0 ? count - 1 : (at + step + count) % count;
  flame.reach(matches.order[at]);
  const box = element('#found');
  if (box) say(box, 'count', counted(box));
}

/** @param {Document} page @param {() => Searched[]} graphs matches are counted in the first */
export function watchSearch(page, graphs) {
  searched = graphs;
  page.addEventListener('input', (event) => {
    if (event.target !== field()) return;
    replaceAddress('search', field()?.value ?? '');
    if (isListAlone()) searchList();
    else void search();
  });
  page.addEventListener('keydown', (event) => {
    if (event.target !== field()) return;
    if (event.key === 'Enter') {
      event.preventDefault(); // prevent the form's submission
      stepTo(event.shiftKey ? -1 : 1);
    }
    if (event.key === 'Escape') clear();
  });
  page.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('#found [data-step]') : null;
    if (button) stepTo(button.getAttribute('data-step') === '1' ? 1 : -1);
  });
}

function clear() {
  const input = field();
  if (!input) return;
  input.value = '';
  replaceAddress('search', '');
  if (isListAlone()) return searchList();
  void search();
  searched()[0]?.view?.focus();
}

/** Search for the text in the URL, after navigation in the history. */
export function searchAsAddressed() {
  const input = field();
  if (!input || input === document.activeElement) return;
  input.value = inAddress('search');
  void search();
}
