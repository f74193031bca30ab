/**
 * Command palette (Ctrl-K): goes to pages, services, views and functions, and runs actions.
 *
 * `<dialog id="palette">` has the address of the project's services, views and snapshots as
 * `data-url`, and the names of the groups. Pages and actions are the links and buttons of the page.
 */

import { harmless } from '../flame-graph/text.js';
import { noteRecent, recentViews } from '../shell/recent.js';
import { visit } from '../shell/visit.js';

/** @typedef {{group: string, text: string, run: () => void}} Command */

const MOST = 8; // commands of a group that are listed
const GROUPS = ['actions', 'pages', 'recent', 'services', 'views', 'snapshots', 'functions'];
// Links and buttons of the page that are commands.
const ACTIONS = [
  '#views a',
  '#colours a',
  '#comparisons .pop a',
  '.pop a[download]',
  '#picture',
  '[data-embed]',
  '.foot [data-open-file]',
  '[data-link]',
  '#save > summary',
  '[data-toggle-theme]',
  '[data-show-keys]',
];

/** @type {Command[]} */
let commands = [];
/** @type {Command[]} */
let listed = [];
let chosen = 0;

/** @returns {HTMLDialogElement | null} */
function dialog() {
  const found = document.querySelector('#palette');
  return found instanceof HTMLDialogElement ? found : null;
}

/** @returns {HTMLInputElement | null} */
function field() {
  const found = document.querySelector('#palette-search');
  return found instanceof HTMLInputElement ? found : null;
}

/** @param {Element} element */
function nameOf(element) {
  const copy = /** @type {Element} */ (element.cloneNode(true));
  for (const key of copy.querySelectorAll('kbd')) key.remove();
  const text = element.getAttribute('aria-label') ?? copy.textContent ?? '';
  return text.replace(/\s+/g, ' ').trim();
}

/** @param {string} address */
function go(address) {
  return () => location.assign(address);
}

/** Return the commands that the page itself has. @returns {Command[]} */
function ownCommands() {
  const actions = [...document.querySelectorAll(ACTIONS.join(', '))]
    .filter((each) => each instanceof HTMLElement && !each.closest('[hidden], dialog'))
    .map((each) => ({
      group: 'actions',
      text: textOf(each),
      run: () => (each instanceof HTMLElement ? each.click() : undefined),
    }));
  const pages = [...document.querySelectorAll('.nav a')].map((link) => ({
    group: 'pages',
    text: nameOf(link),
    run: go(link.getAttribute('href') ?? ''),
  }));
  const recent = recentViews()
    .filter(({ address }) => address !== location.pathname + location.search)
    .map(({ address, label }) => ({ group: 'recent', text: label, run: go(address) }));
  return [...actions, ...pages, ...recent, ...functions()];
}

/** Return the name of an action, behind that of the menu or the group that it is in. @param {Element} element */
function textOf(element) {
  const menu = element.closest('.pop')?.parentElement?.querySelector('summary');
  const group = menu ?? (element.closest('nav') ? element.closest('nav') : null);
  return group && group !== element ? `${nameOfGroup(group)}: ${nameOf(element)}` : nameOf(element);
}

/** @param {Element} group */
function nameOfGroup(group) {
  return group.getAttribute('aria-label') ?? nameOf(group).replace(/…$/, '');
}

/** Return a command for each function of the graph. @returns {Command[]} */
function functions() {
  const graph = /** @type {any} */ (document.querySelector('flame-graph:not([flip]), flame-diff'));
  const tree = graph?.data?.tree;
  if (!tree) return [];
  const used = new Set(Array.from(tree.frames.name, (/** @type {number} */ name) => tree.names[name]));
  used.delete(tree.service);
  return [...used].filter(Boolean).map((name) => ({ group: 'functions', text: name, run: () => focusOn(name) }));
}

/** @param {string} name full name of a function */
function focusOn(name) {
  const elsewhere = document.querySelector('[data-focus]')?.getAttribute('data-focus');
  if (elsewhere) location.assign(`${elsewhere}&focus=${encodeURIComponent(name)}`);
  else visit('focus', name);
}

/** Add the commands that the server knows. @param {HTMLDialogElement} box */
async function load(box) {
  try {
    const carried = document.querySelector('.nav a[data-carries="all"]');
    const selected = carried instanceof HTMLAnchorElement ? carried.search : '';
    const response = await fetch(`${box.dataset.url ?? ''}${selected}`, { headers: { Accept: 'application/json' } });
    if (!response.ok || !box.open) return;
    /** @type {{group: string, text: string, url: string}[]} */
    const entries = (await response.json()).entries;
    commands.push(...entries.map(({ group, text, url }) => ({ group, text, run: go(url) })));
    const before = listed[chosen];
    show();
    choose(Math.max(0, listed.indexOf(before))); // somebody may have chosen one meanwhile
  } catch {
    /* the server does not respond: the page's own commands stay */
  }
}

/** Return whether a text has all words, in any case. @param {string} text @param {string[]} words */
export function matches(text, words) {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

/** List the commands that match the field. */
function show() {
  const box = dialog();
  const list = box?.querySelector('[role=listbox]');
  const input = field();
  if (!box || !list || !input) return;
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  listed = [];
  const groups = GROUPS.flatMap((group) => {
    if (group === 'functions' && !words.length) return [];
    const found = commands.filter((each) => each.group === group && matches(each.text, words)).slice(0, MOST);
    return found.length ? [groupOf(group, box.dataset[group] ?? group, found)] : [];
  });
  list.replaceChildren(...groups);
  const none = box.querySelector('[data-none]');
  if (none instanceof HTMLElement) none.textContent = listed.length ? '' : (none.dataset.none ?? '');
  choose(0);
}

/** @param {string} group @param {string} title @param {Command[]} found */
function groupOf(group, title, found) {
  const element = document.createElement('div');
  element.setAttribute('role', 'group');
  element.setAttribute('aria-labelledby', `palette-${group}`);
  const heading = document.createElement('div');
  heading.id = `palette-${group}`;
  heading.className = 'cap';
  heading.textContent = title;
  element.append(heading);
  for (const command of found) {
    const option = document.createElement('div');
    option.setAttribute('role', 'option');
    option.id = `palette-${listed.length}`;
    option.textContent = harmless(command.text);
    listed.push(command);
    element.append(option);
  }
  return element;
}

/** @param {number} index */
function choose(index) {
  chosen = listed.length ? (index + listed.length) % listed.length : 0;
  dialog()
    ?.querySelectorAll('[role=option]')
    .forEach((option, at) => option.setAttribute('aria-selected', String(at === chosen)));
  const active = document.getElementById(`palette-${chosen}`);
  active?.scrollIntoView({ block: 'nearest' });
  if (active) field()?.setAttribute('aria-activedescendant', active.id);
  else field()?.removeAttribute('aria-activedescendant');
}

/** @param {number} index */
function run(index) {
  const command = listed[index];
  dialog()?.close();
  command?.run();
}

export function openPalette() {
  const [box, input] = [dialog(), field()];
  if (!box || !input || box.open) return;
  noteRecent();
  commands = ownCommands();
  input.value = '';
  box.showModal();
  show();
  void load(box);
}

/** @param {KeyboardEvent} event */
function press(event) {
  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowDown: () => choose(chosen + 1),
    ArrowUp: () => choose(chosen - 1),
    Enter: () => run(chosen),
  };
  if (!keys[event.key] || event.isComposing) return;
  event.preventDefault();
  keys[event.key]();
}

/** @param {Document} page */
function watchPalette(page) {
  page.addEventListener('click', (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const option = target?.closest('#palette [role=option]');
    if (option) run(Number(option.id.slice('palette-'.length)));
    else if (target && target === dialog()) dialog()?.close(); // the backdrop
  });
  field()?.addEventListener('input', show);
  field()?.addEventListener('keydown', press);
}

watchPalette(document);
