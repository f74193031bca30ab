/** Actions on a frame or a function, for its tooltip, its menu and keyboard shortcuts. */

import { getValues, visit } from '../../shell/visit.js';
import { getParameter } from '../navigation/address.js';
import { copyText } from '../../page-controls/clipboard.js';
import { escapeExpression, parseExpression } from '../search/matches.js';
import { getNodeId } from '../tree/ids.js';
import { absoluteLink } from '../../page-controls/links.js';
import { getFile, isLabel, getName, listPath } from '../tree/tree.js';

/** @typedef {import("../tree/tree.js").Tree} Tree */

/**
 * @typedef {object} Subject
 * @property {string} name
 * @property {string} file
 * @property {{tree: Tree, node: number}} [frame] its node in a graph; absent in the function list
 */

const LONGEST = 500; // characters of a filter's value

/** Return the value of a filter that matches this name. @param {string} name */
function filterValue(name) {
  if (parseExpression(name) === null) return Array.from(name.slice(0, LONGEST)).join('').trimEnd() || name;
  return `/${escapeExpression(name).slice(0, LONGEST - 2)}/`;
}

/** Navigate to the page with one more filter. @param {string} option @param {string} name */
export function addFilter(option, name) {
  visit('f', [...getValues('f'), `${option}:${filterValue(name)}`]);
}

/**
 * Focus the page on a function.
 * @param {string} name full name of a function; "" leaves the focus
 */
export function focusOn(name) {
  const elsewhere = document.querySelector('[data-focus]')?.getAttribute('data-focus');
  if (elsewhere) return location.assign(`${elsewhere}&focus=${encodeURIComponent(name)}`);
  visit('focus', name);
}

/** Navigate to the history of a function in the same profiles. @param {string} name */
function showHistory(name) {
  const address = document.querySelector('[data-history]')?.getAttribute('data-history');
  if (address) location.assign(`${address}&function=${encodeURIComponent(name)}`);
}

/** Navigate to the form of a note of a function. @param {string} name */
function addNote(name) {
  const address = document.querySelector('[data-add-note]')?.getAttribute('data-add-note');
  if (address) location.assign(`${address}&function=${encodeURIComponent(name)}`);
}

/**
 * Return the stack of a node as text, callers first, one line each.
 * @param {Tree} tree
 * @param {number} node
 */
function formatStack(tree, node) {
  return listPath(tree, node)
    .slice(1)
    .map((at) => getName(tree, at))
    .join('\n');
}

/** @type {Record<string, (subject: Subject) => void>} */
const DEEDS = {
  focus: ({ name }) => focusOn(getParameter('focus') === name ? '' : name),
  from: ({ name }) => addFilter('from', name),
  show: ({ name }) => addFilter('show', name),
  hide: ({ name }) => addFilter('hide', name),
  hideframes: ({ name }) => addFilter('hideframes', name),
  highlight: ({ name }) => addFilter('highlight', name),
  history: ({ name }) => showHistory(name),
  lines: ({ name }) => visit('lines', getParameter('lines') === name ? '' : name),
  note: ({ name }) => addNote(name),
  name: ({ name }) => void copyText(name, 'name'),
};

/**
 * Actions that need the frame's node in a tree.
 * @type {Record<string, (tree: Tree, node: number) => void>}
 */
const DEEDS_OF_FRAMES = {
  stack: (tree, node) => void copyText(formatStack(tree, node), 'stack'),
  link: (tree, node) => void copyText(absoluteLink({ frame: getNodeId(tree, node) }), 'link'),
};

/** Keys of actions on the marked frame. @type {Record<string, string>} */
export const KEYS = { s: 'focus', f: 'from', '+': 'show', '-': 'hide', h: 'highlight', c: 'name', C: 'stack' };

/**
 * @param {Tree} tree
 * @param {number} node
 * @returns {Subject | null} null for folded nodes
 */
export function buildNodeSubject(tree, node) {
  if (node < 0 || tree.hidden[node]) return null;
  return { name: getName(tree, node), file: getFile(tree, node), frame: { tree, node } };
}

/**
 * Return the function of a list row.
 * @param {Element | null} row with name and file as data attributes
 */
export function buildRowSubject(row) {
  if (!(row instanceof HTMLElement) || row.dataset.name === undefined) return null;
  return { name: row.dataset.name, file: row.dataset.file ?? '' };
}

/**
 * Return whether an action applies to the subject; most do not apply to the root (the service).
 * @param {string} act
 * @param {Subject} subject
 */
export function can(act, { frame }) {
  // this page has no such list
  if (act === 'lines' && !document.querySelector('[data-lines-url]')) return false;
  if (act === 'note' && !document.querySelector('[data-add-note]')) return false; // nor notes, for viewers
  if (act in DEEDS_OF_FRAMES) return Boolean(frame) && (act === 'link' || !isService(frame));
  if (act === 'name') return !isService(frame);
  return act in DEEDS && !isService(frame) && !(frame && isLabel(frame.tree, frame.node));
}

/** @param {Subject["frame"]} frame */
function isService(frame) {
  return frame !== undefined && frame.node === 0 && !frame.tree.base;
}

/**
 * Run an action.
 * @param {string} act
 * @param {Subject | null} subject
 * @returns {boolean} whether the action applies to the subject
 */
export function act(act, subject) {
  if (!subject || !can(act, subject)) return false;
  if (act in DEEDS) DEEDS[act](subject);
  else if (subject.frame) DEEDS_OF_FRAMES[act](subject.frame.tree, subject.frame.node);
  return true;
}
