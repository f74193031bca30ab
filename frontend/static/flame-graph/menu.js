/** The menu of a frame: by right click, long press, or Shift+F10. Its markup is the page's. */

import { act } from './actions.js';
import { element } from './around.js';

/** @typedef {import("./element.js").FlameGraph} FlameGraph */

/** @type {{flame: FlameGraph, node: number} | null} whose menu is open */
let open = null;

/**
 * @param {FlameGraph} flame
 * @param {number} node
 * @param {number} x in the window
 * @param {number} y
 */
export function openMenu(flame, node, x, y) {
  const menu = element('#frame-menu');
  const tree = flame.data?.tree;
  if (!menu || !tree || node < 0 || tree.hidden[node]) return;
  open = { flame, node };
  menu.hidden = false;
  const [width, height] = [menu.offsetWidth, menu.offsetHeight];
  menu.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
  items(menu)[0]?.focus();
}

/** @param {boolean} back whether the graph gets the focus again */
export function closeMenu(back) {
  const menu = element('#frame-menu');
  if (!menu || !open) return;
  const { flame, node } = open;
  open = null;
  menu.hidden = true;
  if (!back) return;
  flame.view?.focus();
  flame.reach(node);
}

/** @param {HTMLElement} menu @returns {HTMLElement[]} */
function items(menu) {
  return Array.from(menu.querySelectorAll('[role=menuitem]')).filter((item) => item instanceof HTMLElement);
}

/** @type {Record<string, (at: number, last: number) => number>} */
const STEPS = {
  ArrowDown: (at, last) => (at < last ? at + 1 : 0),
  ArrowUp: (at, last) => (at > 0 ? at - 1 : last),
  Home: () => 0,
  End: (_at, last) => last,
};

/** @param {KeyboardEvent} event */
function press(event) {
  const menu = element('#frame-menu');
  if (!menu) return;
  if (event.key === 'Escape' || event.key === 'Tab') {
    event.preventDefault();
    closeMenu(true);
  }
  const step = STEPS[event.key];
  if (!step) return;
  event.preventDefault();
  const all = items(menu);
  all[step(all.findIndex((item) => item === document.activeElement), all.length - 1)]?.focus();
}

/** @param {Document} page */
export function watchMenu(page) {
  page.addEventListener('contextmenu', (event) => {
    const flame = event.target instanceof Element ? event.target.closest('flame-graph[data-menu]') : null;
    if (!flame || !(event.target instanceof Element) || !event.target.closest('.fg-view')) return;
    const of = /** @type {FlameGraph} */ (flame);
    const node = event.button === 2 || !of.pointing ? of.under(event) : of.pointing.marked;
    if (node < 0) return;
    event.preventDefault();
    openMenu(of, node, event.clientX, event.clientY);
  });
  page.addEventListener('click', (event) => {
    const item = event.target instanceof Element ? event.target.closest('#frame-menu [data-act]') : null;
    const tree = open?.flame.data?.tree;
    if (item instanceof HTMLElement && open && tree) {
      const { node } = open;
      closeMenu(true);
      act(item.dataset.act ?? '', tree, node);
    } else closeMenu(false);
  });
  page.addEventListener('keydown', (event) => {
    if (open) press(event);
  });
  page.addEventListener('htmx:before:swap', () => closeMenu(false));
}
