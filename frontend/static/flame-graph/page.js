/** The flame page: the graph with what is around it, its address, and new profiles as they come. */

import '../charts/profile_strip.js';
import { fadeToasts } from '../shell/toasts.js';
import { act, focusOn, subjectOf } from './actions.js';
import { inAddress, profilesOf, pushAddress, replaceAddress } from './address.js';
import { askFor, askQuietly, changesPage } from './answers.js';
import { element, graph, graphs, showAround, showColour, showFailure, showRecursion, showState } from './around.js';
import { watchChips } from './chips.js';
import { colourBy } from './colours.js';
import { FlameGraph } from './element.js';
import { goBy } from './going.js';
import { heaviestCallee } from './keyboard.js';
import { watchKeys } from './keys.js';
import { watchLinks } from './links.js';
import { watchMenu } from './menu.js';
import { pointedPlace } from './menu-of-frame.js';
import { showMoments } from './moments.js';
import { savePictures } from './save-picture.js';
import { field, search, searchAsAddressed, watchSearch } from './search.js';
import { watchStrip } from './strip.js';
import { paintSwatches } from './swatches.js';

const REFRESH_MS = 15_000;

let shown = profilesOf(location.search);
let loaded = false; // whether there was a tree since the page was opened

/** @param {Event} event @returns {any} */
const detailOf = (event) => (event instanceof CustomEvent ? event.detail : {});

// -- What the graph tells

document.addEventListener('flame-load', (event) => {
  if (event.target !== graph()) return showFoot(event.target);
  const { missing } = detailOf(event);
  showState(missing && !loaded ? 'fg-missing' : '');
  if (missing) forgetFrame();
  loaded = true;
  showAround();
  void search();
});

/** Callers grow upwards: what is next to the function comes first. @param {EventTarget | null} flame */
function showFoot(flame) {
  if (flame instanceof FlameGraph && flame.flip) requestAnimationFrame(() => (flame.scrollTop = flame.scrollHeight));
}

// A function in focus stands between two graphs: keys go on from one to the other.
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
  void askFor((parameters) => {
    for (const gone of ['frame', 'recursion', 'root']) parameters.delete(gone);
    if (id) parameters.set('root', id);
  });
});

document.addEventListener('flame-leave', () => {
  if (inAddress('focus')) focusOn('');
  else if (inAddress('root')) void askFor((parameters) => parameters.delete('root'));
});

/** Other profiles were chosen, and the frame that was zoomed to is not in them. */
function forgetFrame() {
  replaceAddress('frame', '');
  graph()?.setAttribute('frame', '');
}

document.addEventListener('flame-wait', () => {
  if (!graph()?.data) showState('fg-wait');
});

document.addEventListener('flame-error', (event) => showFailure(detailOf(event).reason, detailOf(event).detail));

document.addEventListener('flame-zoom', (event) => {
  if (event.target !== graph()) return;
  const { id } = detailOf(event);
  pushAddress('frame', id);
  graph()?.setAttribute('frame', id);
  showState('');
  showAround();
});

// -- What a person chooses

watchKeys(document);
goBy((change) => void askFor(change));
watchChips(document);
watchLinks(document);
watchMenu(document, pointedPlace);
watchSearch(document, () => graphs().sort((a, b) => Number(a.flip) - Number(b.flip)));
watchStrip(document);

/** @type {[string, (target: HTMLElement, event: MouseEvent) => void][]} what is clicked, and what it does */
const CLICKS = [
  ['.tip [data-act]', (button) => {
    const flame = button.closest('flame-graph');
    const tree = flame instanceof FlameGraph ? flame.data?.tree : undefined;
    if (flame instanceof FlameGraph && tree) act(button.dataset.act ?? '', subjectOf(tree, flame.pointing?.marked ?? -1));
  }],
  ['#picture', savePictures],
  ['#functions a.fn', (link, event) => {
    event.preventDefault();
    focusOn(link.dataset.name ?? '');
  }],
  ['[data-leave-focus]', (_link, event) => {
    event.preventDefault();
    focusOn('');
  }],
];

document.addEventListener('click', (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || !(event.target instanceof Element)) return;
  for (const [selector, deed] of CLICKS) {
    const found = event.target.closest(selector);
    if (found instanceof HTMLElement) deed(found, event);
  }
});

document.addEventListener('change', (event) => {
  if (!(event.target instanceof HTMLInputElement) || event.target.id !== 'recursion') return;
  pushAddress('recursion', event.target.checked ? 'folded' : '');
  showRecursion(event.target.checked);
});

document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('#colours a') : null;
  const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (!(link instanceof HTMLElement) || !plain) return;
  event.preventDefault();
  const by = colourBy(link.dataset.colour ?? '');
  pushAddress('colour', by === 'package' ? '' : by);
  showColour(by);
});

/** @type {Record<string, string[]>} what a menu offers depends on these: its choice is no longer meant */
const DEPENDENT = {
  service: ['zone', 'version', 'weight', 'weights', 'metric', 'focus', 'profile', 'label.'],
  type: ['weight', 'weights', 'metric', 'profile'],
};

document.addEventListener(
  'change',
  (event) => {
    const menu = event.target;
    if (!(menu instanceof HTMLSelectElement) || menu.form?.id !== 'picker') return;
    for (const control of menu.form.elements) {
      if (!(control instanceof HTMLSelectElement || control instanceof HTMLInputElement)) continue;
      const name = control.name.startsWith('label.') ? 'label.' : control.name;
      if (DEPENDENT[menu.name]?.includes(name)) control.value = '';
    }
  },
  true,
);

// -- Steps through the history are taken here: only what differs is fetched.

document.addEventListener('htmx:before:history:restore', (event) => event.preventDefault());

addEventListener('popstate', () => {
  const wanted = profilesOf(location.search);
  graph()?.setAttribute('frame', inAddress('frame'));
  showColour(colourBy(inAddress('colour')));
  showRecursion(inAddress('recursion') === 'folded');
  searchAsAddressed();
  if (wanted === shown) return;
  shown = wanted;
  void askQuietly();
});

// -- After each answer

function settle() {
  showMoments(document);
  paintSwatches(document);
  showAround();
}

document.addEventListener('htmx:after:swap', (event) => {
  if (!changesPage(event)) return;
  shown = profilesOf(location.search);
  const picker = document.querySelector('#picker');
  const typed = field()?.value ?? '';
  if (picker instanceof HTMLFormElement) picker.reset(); // to what the answer has
  const input = field();
  if (input && input === document.activeElement) input.value = typed;
  settle();
  const said = element('#said');
  if (said) fadeToasts(said);
});

// -- New profiles, while the end is now

setInterval(() => {
  const bench = element('#flame[data-live]');
  const busy = document.hidden || document.querySelector('.htmx-request');
  if (bench && !busy) void askQuietly({ seen: bench.dataset.seen ?? '' });
}, REFRESH_MS);

settle();
