/** Flame page: the graph and its surroundings, URL state, and live refresh. */

import { showOverTime, stopOverTime } from '../charts/over_time.js';
import { watchRanges } from '../charts/ranges.js';
import { settleControls } from '../shell/controls.js';
import { closeMenus } from '../shell/menus.js';
import { fadeToasts } from '../shell/toasts.js';
import { showBy, visit, visitWith } from '../shell/visit.js';
import { act, focusOn, subjectOf } from './actions.js';
import { inAddress, profilesOf, replaceAddress } from './address.js';
import { requestPage, changesPage, abortRequest } from './page-requests.js';
import { element, graph, graphs, showAround, showColour, showFailure, showRecursion, showState } from './around.js';
import { watchChips } from './chips.js';
import { colourBy } from './colours.js';
import { FlameGraph } from './element.js';
import { heaviestCallee } from './keyboard.js';
import { watchKeys } from './keys.js';
import { watchLinks } from './links.js';
import { watchMenu } from './menu.js';
import { targetAt } from './menu-of-frame.js';
import { showMoments } from './moments.js';
import { savePictures } from './save-picture.js';
import { field, search, searchAsAddressed, watchSearch } from './search.js';
import { paintSwatches } from './swatches.js';
import { nameOf } from './tree.js';

const REFRESH_MS = 15_000;

let shown = profilesOf(location.search);
let loaded = false; // a tree was shown since the page was opened

/** @param {Event} event @returns {any} */
const detailOf = (event) => (event instanceof CustomEvent ? event.detail : {});

// -- Events of the graph

document.addEventListener('flame-load', (event) => {
  if (event.target !== graph()) return showFoot(event.target);
  const { missing } = detailOf(event);
  showState(missing && !loaded ? 'fg-missing' : '');
  if (missing) forgetFrame();
  loaded = true;
  showAround();
  showSeries();
  void search();
});

/** Show the chart above the graph, with a series for the function of the zoomed frame. */
function showSeries() {
  const { data, zoomed } = graph() ?? {};
  showOverTime(data && zoomed?.node && !inAddress('focus') ? nameOf(data.tree, zoomed.node) : '');
}

/**
 * Scroll to the bottom of a callers' graph, which grows upwards from the function.
 * @param {EventTarget | null} flame
 */
function showFoot(flame) {
  if (flame instanceof FlameGraph && flame.flip) requestAnimationFrame(() => (flame.scrollTop = flame.scrollHeight));
}

// A focused function is between two graphs: arrow keys move from one to the other.
document.addEventListener('flame-foot', () => {
  graph()?.view?.focus();
  graph()?.reach(0);
});

document.addEventListener('flame-top', () => {
  const callers = graphs().find((flame) => flame.flip);
  const tree = callers?.data?.tree;
  if (!callers || !tree || tree.rows < 2) return;
  callers.view?.focus();
  callers.reach(heaviestCallee(tree, 0));
});

document.addEventListener('flame-open', (event) => {
  const { id } = detailOf(event);
  visitWith([
    ['recursion', ''],
    ['root', id],
  ]); // node ids are defined for the tree with recursion
});

document.addEventListener('flame-leave', () => {
  if (inAddress('focus')) focusOn('');
  else if (inAddress('root')) visit('root', '');
});

/** Reset the zoom: the zoomed frame is not in the newly selected profiles. */
function forgetFrame() {
  replaceAddress('frame', '');
  graph()?.setAttribute('frame', '');
}

document.addEventListener('flame-wait', () => {
  if (!graph()?.data) showState('fg-wait');
});

document.addEventListener('flame-error', (event) => {
  showFailure(detailOf(event).reason, detailOf(event).detail);
  showSeries();
});

document.addEventListener('flame-zoom', (event) => {
  if (event.target !== graph()) return;
  const { id } = detailOf(event);
  visit('frame', id);
  showState('');
  showAround();
  showSeries();
});

// -- User input

watchKeys(document);
watchChips(document);
watchLinks(document);
watchMenu(document, targetAt);
watchSearch(document, () => graphs().sort((a, b) => Number(a.flip) - Number(b.flip)));
watchRanges(document);

/**
 * @type {[string, (target: HTMLElement, event: MouseEvent) => void][]} selectors and click handlers
 */
const CLICKS = [
  [
    '.tip [data-act]',
    (button) => {
      const flame = button.closest('flame-graph');
      const tree = flame instanceof FlameGraph ? flame.data?.tree : undefined;
      if (flame instanceof FlameGraph && tree)
        act(button.dataset.act ?? '', subjectOf(tree, flame.pointing?.marked ?? -1));
    },
  ],
  ['#picture', savePictures],
  [
    '#functions a.fn',
    (link, event) => {
      event.preventDefault();
      focusOn(link.dataset.name ?? '');
    },
  ],
];

document.addEventListener('click', (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || !(event.target instanceof Element)) return;
  for (const [selector, deed] of CLICKS) {
    const found = event.target.closest(selector);
    if (found instanceof HTMLElement) deed(found, event);
  }
});

// -- URL changes: only parts of the page that differ are fetched

/** Apply the parameters that the graph handles itself. */
function showOwn() {
  graph()?.setAttribute('frame', inAddress('frame'));
  showColour(colourBy(inAddress('colour')));
  showRecursion(inAddress('recursion') === 'folded');
}

function showAddress() {
  showOwn();
  searchAsAddressed();
  if (profilesOf(location.search) === shown) return abortRequest();
  stopOverTime(); // one query of a user runs at a time
  void requestPage();
}

showBy((address) => {
  history.pushState({ flame: true }, '', address);
  closeMenus(document);
  showAddress();
});

addEventListener('popstate', showAddress);

// -- After each response

function settle() {
  settleControls(document);
  showMoments(document);
  paintSwatches(document);
  showAround();
  if (!graph()?.getAttribute('src')) showSeries(); // otherwise once the graph has its tree
}

document.addEventListener('htmx:afterSwap', (event) => {
  if (!changesPage(event)) return paintSwatches(document); // more rows of the list
  shown = profilesOf(location.search);
  const input = field();
  if (input && input !== document.activeElement) input.value = inAddress('search');
  settle();
  showOwn();
  const said = element('#said');
  if (said) fadeToasts(said);
});

// -- Refresh with new profiles, while the range ends now

setInterval(() => {
  const page = element('#flame[data-live]');
  const busy = document.hidden || document.querySelector('.htmx-request, .chip.editing');
  if (!page || busy) return;
  // after a failure, the whole page
  void requestPage(profilesOf(location.search) === shown ? page.dataset.seen : '');
}, REFRESH_MS);

settle();
