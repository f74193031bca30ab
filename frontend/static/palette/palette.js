/**
 * Command palette (Ctrl-K): goes to pages, services, views and functions, and runs actions.
 *
 * `<dialog id="palette">` has the address of the project's services, views and snapshots as
 * `data-url`, and the names of the groups. Pages and actions are the links and buttons of the page.
 * With a menu of services, it lists services alone and chooses in that menu.
 *
 * Services are searched by the server, unless its first response had all of them.
 */

import { insertValues, markInvisible } from '../text.js';
import { noteRecent, recentViews } from '../shell/recent.js';
import { visit } from '../shell/visit.js';
import { formatCount } from '../units.js';

/** @typedef {{group: string, text: string, run: () => void}} Command */

const MOST = 8; // commands of a group that are listed
const MOST_SERVICES_ALONE = 50;
const TYPING_MS = 100; // pause in typing before the server is asked
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
/** @type {HTMLSelectElement | null} menu in which a service is chosen; null: its page is opened */
let serviceMenu = null;
/** @type {Map<string, Command>} all services that the server has named, by name */
const services = new Map();
/** @type {Map<string, number>} number of matching services, by the searched words */
const found = new Map();
let visible = new AbortController(); // aborted when the palette is closed
let searching = new AbortController(); // aborted when more is typed

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
function readName(element) {
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
      text: readText(each),
      run: () => (each instanceof HTMLElement ? each.click() : undefined),
    }));
  const pages = [...document.querySelectorAll('.nav a')].map((link) => ({
    group: 'pages',
    text: readName(link),
    run: go(link.getAttribute('href') ?? ''),
  }));
  const recent = recentViews()
    .filter(({ address }) => address !== location.pathname + location.search)
    .map(({ address, label }) => ({ group: 'recent', text: label, run: go(address) }));
  return [...actions, ...pages, ...recent, ...functions()];
}

/** Return the name of an action, behind that of the menu or the group that it is in. @param {Element} element */
function readText(element) {
  const menu = element.closest('.pop')?.parentElement?.querySelector('summary');
  const group = menu ?? (element.closest('nav') ? element.closest('nav') : null);
  return group && group !== element ? `${getGroupName(group)}: ${readName(element)}` : readName(element);
}

/** @param {Element} group */
function getGroupName(group) {
  return group.getAttribute('aria-label') ?? readName(group).replace(/…$/, '');
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

/**
 * Add the commands that the server knows: services with the words, and without words also views and snapshots.
 * @param {HTMLDialogElement} box
 * @param {string[]} words
 * @param {AbortSignal} signal
 */
async function load(box, words, signal) {
  try {
    if (words.length) await new Promise((resume) => setTimeout(resume, TYPING_MS));
    if (signal.aborted) return;
    const response = await fetch(buildAddress(box, words), { headers: { Accept: 'application/json' }, signal });
    if (!response.ok) return;
    /** @type {{entries: {group: string, text: string, url: string}[], services: number}} */
    const { entries, services: number } = await response.json();
    if (signal.aborted) return;
    for (const { group, text, url } of entries) {
      const command = { group, text, run: group === 'services' ? () => openService(text, url) : go(url) };
      if (group === 'services') services.set(text, command);
      else commands.push(command);
    }
    found.set(words.join(' '), number);
    const before = listed[chosen];
    show();
    choose(Math.max(0, listed.indexOf(before))); // somebody may have chosen one meanwhile
  } catch {
    /* the server does not respond, or more was typed: the commands that are known stay */
  } finally {
    if (!signal.aborted && words.length && !found.has(words.join(' '))) {
      found.set(words.join(' '), 0); // failed: nothing more is coming
      show();
    }
  }
}

/** @param {HTMLDialogElement} box @param {string[]} words */
function buildAddress(box, words) {
  const carried = document.querySelector('.nav a[data-carries="all"]');
  const parameters = new URLSearchParams(carried instanceof HTMLAnchorElement ? carried.search : '');
  if (words.length) parameters.set('find', words.join(' '));
  return `${box.dataset.url ?? ''}?${parameters}`;
}

/** Return whether the first response of the server had all services. */
function hasAllServices() {
  return (found.get('') ?? Infinity) <= services.size;
}

/** @param {string} name @param {string} address of its flame graph */
function openService(name, address) {
  if (!serviceMenu) {
    location.assign(address);
    return;
  }
  const present = [...serviceMenu.options].find((option) => option.value === name);
  const option = present ?? new Option(name, name);
  if (!present) serviceMenu.add(option, 0);
  option.selected = true;
  serviceMenu.dispatchEvent(new Event('change', { bubbles: true }));
}

/** Return whether a text has all words, in any case. @param {string} text @param {string[]} words */
export function matches(text, words) {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

/** Return the words of the field, in lower case. */
function readWords() {
  return (field()?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
}

/** List the commands that match the field. */
function show() {
  const box = dialog();
  const list = box?.querySelector('[role=listbox]');
  if (!box || !list) return;
  const words = readWords();
  listed = [];
  const shown = serviceMenu ? ['services'] : GROUPS;
  let more = '';
  const groups = shown.flatMap((group) => {
    if (group === 'functions' && !words.length) return [];
    const ofGroup = group === 'services' ? [...services.values()] : commands.filter((each) => each.group === group);
    const matching = ofGroup.filter((each) => matches(each.text, words));
    const most = matching.slice(0, serviceMenu ? MOST_SERVICES_ALONE : MOST);
    if (group === 'services') more = remainder(box, matching.length, most.length, words);
    return most.length ? [buildGroup(group, box.dataset[group] ?? group, most)] : [];
  });
  list.replaceChildren(...groups);
  const status = box.querySelector('[role=status]');
  if (status instanceof HTMLElement)
    status.textContent = listed.length || isSearching(words) ? more : (status.dataset.none ?? '');
  choose(0);
}

/** Return whether the server has still to say which services match. @param {string[]} words */
function isSearching(words) {
  return !hasAllServices() && !found.has(words.join(' '));
}

/**
 * Return a sentence that says how many more services match; empty if none, and until that is known.
 * @param {HTMLDialogElement} box
 * @param {number} matching services that the server has named
 * @param {number} shown
 * @param {string[]} words
 */
function remainder(box, matching, shown, words) {
  const number = hasAllServices() ? matching : found.get(words.join(' '));
  if (number === undefined || number <= shown) return '';
  const more = number - shown;
  return insertValues((more === 1 ? box.dataset.moreOne : box.dataset.more) ?? '', { n: formatCount(more) });
}

/** @param {string} group @param {string} title @param {Command[]} found */
function buildGroup(group, title, found) {
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
    option.textContent = markInvisible(command.text);
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

/** @param {HTMLSelectElement | null} menu of services to choose in; null lists all commands */
export function openPalette(menu = null) {
  const [box, input] = [dialog(), field()];
  if (!box || !input || box.open) return;
  noteRecent();
  serviceMenu = menu;
  commands = menu ? [] : ownCommands();
  services.clear();
  found.clear();
  input.value = '';
  const prompt = (menu ? box.dataset.searchServices : box.dataset.searchAll) ?? '';
  input.placeholder = prompt;
  const label = input.closest('label')?.querySelector('.sr');
  if (label) label.textContent = prompt;
  box.showModal();
  show();
  visible = new AbortController();
  void load(box, [], visible.signal);
}

function search() {
  show();
  searching.abort();
  const box = dialog();
  const words = readWords();
  if (!box || !words.length || hasAllServices() || found.has(words.join(' '))) return;
  searching = new AbortController();
  void load(box, words, AbortSignal.any([visible.signal, searching.signal]));
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
  field()?.addEventListener('input', search);
  dialog()?.addEventListener('close', () => visible.abort());
  field()?.addEventListener('keydown', press);
}

watchPalette(document);
