/** Flame page: the graph and its surroundings, URL state, and live refresh. */

import { showOverTime, stopOverTime } from '../../charts/over_time.js';
import { watchRanges } from '../../charts/ranges.js';
import { settleControls } from '../../shell/controls.js';
import { importOrNotify } from '../../shell/lazy.js';
import { closeMenus } from '../../shell/menus.js';
import { fadeToasts } from '../../shell/toasts.js';
import { showBy, visit, visitWith } from '../../shell/visit.js';
import { act, focusOn } from '../menu/actions.js';
import { getParameter, getSelectionParameters, replaceAddress, getTreeParameters } from '../navigation/address.js';
import { requestPage, changesPage, abortRequest, watchFailures } from '../navigation/page-requests.js';
import { findElement } from '../../dom.js';
import {
  graph,
  graphs,
  showGraphContext,
  showColour,
  showFailure,
  showFlip,
  showRecursion,
  showStale,
  showState,
} from './graph-pane.js';
import { watchChips } from '../../page-controls/chips.js';
import { readColourBy } from '../packages/colours.js';
import { FlameGraph } from '../graph/element.js';
import { getChosenSubject, showFrame } from './frame-bar.js';
import { showBarNote, showFunctionNotes } from './function-notes.js';
import { heaviestCallee } from '../graph/keyboard.js';
import { watchKeys } from './keys.js';
import { watchLinks } from '../../page-controls/links.js';
import { openMenu, watchMenu } from '../menu/menu.js';
import { showLines, watchLines } from './lines.js';
import { followList, isListNow, noteList } from '../navigation/function-list.js';
import { findMenuTarget } from '../menu/frame-menu.js';
import { watchPanes } from '../../page-controls/panes.js';
import { isCallers } from '../tree/rows.js';
import { field, search, searchFromAddress, watchSearch } from '../search/search.js';
import { noteShown, pushAddress, returnToShown } from '../navigation/history-entry.js';
import { isLabel, getName } from '../tree/tree.js';

const REFRESH_MS = 15_000;

// Here and not in element.js, which is evaluated earlier: the graph's events need their listeners.
customElements.define('flame-graph', FlameGraph);

let shown = getSelectionParameters(location.search);
let drawn = getTreeParameters(location.search); // what the graph draws: an earlier selection until its tree is there
let loaded = false; // a tree was shown since the page was opened

/** @param {Event} event @returns {any} */
const getDetail = (event) => (event instanceof CustomEvent ? event.detail : {});

// -- Events of the graph

document.addEventListener('flame-load', (event) => {
  if (event.target !== graph()) return showFoot(event.target);
  const { missing, tree } = getDetail(event);
  showState(missing && !loaded ? 'fg-missing' : '');
  if (missing) forgetFrame();
  loaded = true;
  noteDrawn(tree);
  noteIfShown();
  showGraphContext();
  showSeries();
  void search();
  void showLines(getParameter('lines')); // the tree has the files of functions that the list does not show
});

/**
 * Note that the graph shows the current selection, unless the tree is still that of an earlier one.
 * @param {import("../tree/tree.js").Tree} tree
 */
function noteDrawn(tree) {
  const isCurrent = getSelectionParameters(location.search) === shown && (tree.preview || !graph()?.isLoading);
  if (isCurrent) drawn = getTreeParameters(location.search);
  markGraph();
}

function markGraph() {
  showStale(Boolean(graph()?.data) && drawn !== getTreeParameters(location.search));
}

/** Show the chart above the graph, with a series for the function of the zoomed frame. */
function showSeries() {
  const { data, zoomed } = graph() ?? {};
  const isFunction = data && zoomed?.node && !isLabel(data.tree, zoomed.node);
  showOverTime(isFunction && !getParameter('focus') ? getName(data.tree, zoomed.node) : '');
}

/**
 * Scroll to the bottom of a callers' graph, which grows upwards from the function.
 * @param {EventTarget | null} flame
 */
function showFoot(flame) {
  if (flame instanceof FlameGraph && isCallers(flame))
    requestAnimationFrame(() => (flame.scrollTop = flame.scrollHeight));
}

// A focused function is between two graphs: arrow keys move from one to the other.
document.addEventListener('flame-foot', () => {
  graph()?.view?.focus();
  graph()?.reach(0);
});

document.addEventListener('flame-top', () => {
  const callers = graphs().find(isCallers);
  const tree = callers?.data?.tree;
  if (!callers || !tree || tree.rows < 2) return;
  callers.view?.focus();
  callers.reach(heaviestCallee(tree, 0));
});

// One frame of the page is chosen, in either graph.
document.addEventListener('flame-choose', (event) => {
  const { tree, node, view } = getDetail(event);
  const others = graphs().filter((flame) => flame !== event.target && (flame.pointing?.chosen ?? -1) >= 0);
  if (node < 0 && others.length) return;
  for (const other of others) if (node >= 0) other.choose(-1);
  showFrame(tree, node, view);
  showBarNote();
});

document.addEventListener('over-time-load', showFunctionNotes);

document.addEventListener('flame-open', (event) => {
  const { id } = getDetail(event);
  visitWith([
    ['recursion', ''],
    ['root', id],
  ]); // node ids are defined for the tree with recursion
});

document.addEventListener('flame-leave', () => {
  if (getParameter('focus')) focusOn('');
  else if (getParameter('root')) visit('root', '');
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
  showFailure(getDetail(event).reason, getDetail(event).detail);
  if (graph()?.data) goBack();
  showSeries();
});

document.addEventListener('flame-zoom', (event) => {
  if (event.target !== graph()) return;
  const { id } = getDetail(event);
  visit('frame', id);
  showState('');
  showGraphContext();
  showSeries();
});

// -- User input

watchKeys(document);
watchChips(document);
watchLines(document);
watchLinks(document);
watchMenu(document, findMenuTarget);
watchPanes(document);
watchSearch(document, () => graphs().sort((a, b) => Number(isCallers(a)) - Number(isCallers(b))));
watchRanges(document);

async function savePicture() {
  const script = await importOrNotify(() => import('./save-picture.js'));
  script?.savePictures();
}

/** Open the menu of the chosen frame. @param {HTMLElement} button */
function openMenuBelow(button) {
  const subject = getChosenSubject();
  const { left, bottom } = button.getBoundingClientRect();
  openMenu(subject && { subject, back: () => button.focus() }, left, bottom + 4);
}

/**
 * @type {[string, (target: HTMLElement, event: MouseEvent) => void][]} selectors and click handlers
 */
const CLICKS = [
  ['#frame-bar [data-act]', (button) => act(button.dataset.act ?? '', getChosenSubject())],
  ['#frame-bar [data-open-menu]', openMenuBelow],
  ['#picture', () => void savePicture()],
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
  graph()?.setAttribute('frame', getParameter('frame'));
  showColour(readColourBy(getParameter('colour')));
  showRecursion(getParameter('recursion') === 'folded');
  showFlip(getParameter('flip') === 'bottom');
  void showLines(getParameter('lines'));
}

function showAddress() {
  showOwn();
  searchFromAddress();
  if (getSelectionParameters(location.search) === shown) {
    abortRequest();
    if (!graph()?.isLoading) showSeries(); // stopped for the request that is given up
  } else {
    stopOverTime(); // one query of a user runs at a time
    void requestPage();
  }
  noteIfShown();
  markGraph();
  followList();
}

showBy((address) => {
  pushAddress(address);
  closeMenus(document);
  showAddress();
});

addEventListener('popstate', () => {
  settleControls(document); // those of a request that is given up
  showAddress();
});

// -- After a failed request, URL and controls return to what is shown

/** Note the current URL as the shown one, if page and graph are. */
function noteIfShown() {
  if (getSelectionParameters(location.search) === shown && !graph()?.isLoading) noteShown();
}

function goBack() {
  if (returnToShown()) return;
  settleControls(document);
  drawn = getTreeParameters(location.search); // the notice says that older data are shown
  markGraph();
}

watchFailures(document, goBack);

// -- After each response

/** @type {Record<string, (search: string) => boolean>} whether a request is of the current URL, by its target */
const IS_CURRENT = {
  flame: (search) => getSelectionParameters(search) === getSelectionParameters(location.search),
  functions: isListNow,
};

function settle() {
  settleControls(document);
  showGraphContext();
  if (!graph()?.getAttribute('src')) showSeries(); // otherwise once the graph has its tree
}

// Not what the user has left meanwhile: htmx forgets a request that is sent between a swap and its settling, and
// then cannot abort it.
document.addEventListener('htmx:beforeSwap', (event) => {
  const { target, pathInfo } = getDetail(event);
  const isCurrent = IS_CURRENT[target?.id];
  if (isCurrent?.(new URL(pathInfo.finalRequestPath, location.href).search) === false)
    getDetail(event).shouldSwap = false;
});

document.addEventListener('htmx:afterSwap', (event) => {
  showFunctionNotes();
  const { target, pathInfo } = getDetail(event);
  if (target?.id === 'functions') noteList();
  if (!changesPage(event)) {
    void showLines(getParameter('lines'));
    return;
  }
  noteList(new URL(pathInfo.finalRequestPath, location.href).searchParams);
  followList();
  shown = getSelectionParameters(location.search);
  if (!graph()?.isLoading) drawn = getTreeParameters(location.search); // the same tree, or none beside a list
  markGraph();
  const input = field();
  if (input && input !== document.activeElement) input.value = getParameter('search');
  settle();
  showOwn();
  noteIfShown();
  const said = findElement('#said');
  if (said) fadeToasts(said);
});

// -- Refresh with new profiles, while the range ends now

setInterval(() => {
  const page = findElement('#flame[data-live]');
  const busy = document.hidden || document.querySelector('.htmx-request, .chip.editing');
  if (!page || busy) return;
  // after a failure, the whole page
  void requestPage(getSelectionParameters(location.search) === shown ? page.dataset.seen : '');
}, REFRESH_MS);

settle();
void showLines(getParameter('lines'));
