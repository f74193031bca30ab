/** Compare page: fetches the aligned trees once, draws them, and zooms all graphs together. */

import { act, buildNodeSubject } from '../flame-graph/menu/actions.js';
import { watchChips } from '../page-controls/chips.js';
import { watchLinks } from '../page-controls/links.js';
import { watchMenu } from '../flame-graph/menu/menu.js';
import { watchPanes } from '../page-controls/panes.js';
import { search, watchSearch } from '../flame-graph/search/search.js';
import { buildAddress, visit } from '../shell/visit.js';
import { FlameDiff } from './diff_graph.js';
import { readDifferences } from './differences.js';
import { buildMenuTarget, watchKeys } from './keys.js';

const WAIT_MS = 150;

/** @returns {FlameDiff[]} */
const graphs = () => [...document.querySelectorAll('flame-diff')].filter((one) => one instanceof FlameDiff);

/** @param {string} id */
function zoomAll(id) {
  for (const graph of graphs()) graph.setAttribute('frame', id);
}

document.addEventListener('diff-zoom', (event) => {
  const id = event instanceof CustomEvent ? event.detail.id : '';
  history.pushState({}, '', buildAddress([['frame', id]]));
  zoomAll(id);
});

addEventListener('popstate', () => zoomAll(new URLSearchParams(location.search).get('frame') ?? ''));

// -- Folded nodes are opened as a new root; Escape returns to the whole tree

document.addEventListener('diff-open', (event) => {
  const id = event instanceof CustomEvent ? event.detail.id : '';
  visit('root', id);
});

document.addEventListener('diff-leave', () => {
  if (new URLSearchParams(location.search).has('root')) visit('root', '');
});

// -- Actions on a frame or a function

watchChips(document);
watchKeys(document, graphs);
watchLinks(document);
watchPanes(document);
watchSearch(document, graphs);
watchMenu(document, (event, target) => {
  const graph = target.closest('flame-diff');
  if (!(graph instanceof FlameDiff)) return null;
  return buildMenuTarget(graph, event.button === 2 ? graph.findNodeUnder(event) : graph.marked);
});

document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest('.tip [data-act]') : null;
  const graph = button?.closest('flame-diff');
  if (graph instanceof FlameDiff && graph.tree)
    act(button?.getAttribute('data-act') ?? '', buildNodeSubject(graph.tree, graph.marked));
});

/** Open the menu that the URL names: the value of one side was chosen, that of the other follows. */
function openNamedMenu() {
  const menu = document.getElementById(location.hash.slice(1));
  if (!(menu instanceof HTMLDetailsElement)) return;
  menu.open = true;
  menu.querySelector('summary')?.focus();
  history.replaceState(history.state, '', location.pathname + location.search); // once
}

/** @param {HTMLElement} work */
async function load(work) {
  const wait = document.getElementById('diff-wait');
  const slow = setTimeout(() => wait?.removeAttribute('hidden'), WAIT_MS);
  try {
    const response = await fetch(work.dataset.src ?? '', { credentials: 'same-origin' });
    if (!response.ok) return fail((await response.json().catch(() => ({}))).error);
    const all = readDifferences(await response.json());
    for (const graph of graphs()) graph.show(all);
    void search();
  } catch (error) {
    fail('');
    console.warn(error);
  } finally {
    clearTimeout(slow);
    wait?.setAttribute('hidden', '');
  }
}

/** @param {unknown} sentence */
function fail(sentence) {
  const note = document.getElementById('diff-failed');
  const text = note?.querySelector('div');
  if (!note || !text) return;
  text.textContent = typeof sentence === 'string' && sentence ? sentence : (note.dataset.failed ?? '');
  note.hidden = false;
}

openNamedMenu();

const work = document.querySelector('[data-src].work');
if (work instanceof HTMLElement) void load(work);
