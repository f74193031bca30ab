/**
 * Context menu of a frame or a function: right click, long press, or Shift+F10.
 *
 * Its markup is the page's.
 */

import { act, can, buildRowSubject } from './actions.js';
import { changesPage } from '../navigation/page-requests.js';
import { findElement } from '../../dom.js';

/** @typedef {import("./actions.js").Subject} Subject */
/**
 * @typedef {{subject: Subject, back: () => void}} MenuTarget of a menu; `back` restores focus
 */

/** @type {MenuTarget | null} subject of the open menu */
let open = null;

/** @param {MenuTarget | null} target @param {number} x in the window @param {number} y */
export function openMenu(target, x, y) {
  const menu = findElement('#frame-menu');
  if (!menu || !target) return;
  open = target;
  for (const item of menu.querySelectorAll('[data-act]')) {
    item.toggleAttribute('hidden', !can(item.getAttribute('data-act') ?? '', target.subject));
  }
  menu.hidden = false;
  const [width, height] = [menu.offsetWidth, menu.offsetHeight];
  menu.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
  items(menu)[0]?.focus();
}

/** @param {boolean} back whether to focus the menu's subject again */
function closeMenu(back) {
  const menu = findElement('#frame-menu');
  if (!menu || !open) return;
  const target = open;
  open = null;
  menu.hidden = true;
  if (back) target.back();
}

/** @param {HTMLElement} menu @returns {HTMLElement[]} */
function items(menu) {
  return Array.from(menu.querySelectorAll('[role=menuitem]:not([hidden])')).filter(
    (item) => item instanceof HTMLElement,
  );
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
  const menu = findElement('#frame-menu');
  if (!menu) return;
  if (event.key === 'Escape' || event.key === 'Tab') {
    event.preventDefault();
    closeMenu(true);
  }
  const step = STEPS[event.key];
  if (!step) return;
  event.preventDefault();
  const all = items(menu);
  all[
    step(
      all.findIndex((item) => item === document.activeElement),
      all.length - 1,
    )
  ]?.focus();
}

/** @param {Element} target @returns {MenuTarget | null} the function of a list row */
function findRow(target) {
  const row = target.closest('.fn[data-name]');
  const subject = buildRowSubject(row);
  return subject && { subject, back: () => row instanceof HTMLElement && row.focus() };
}

/**
 * @param {Document} page
 * @param {(event: MouseEvent, target: Element) => MenuTarget | null} inGraph finds it in a graph
 */
export function watchMenu(page, inGraph) {
  page.addEventListener('contextmenu', (event) => {
    if (!(event.target instanceof Element)) return;
    const target = event.target.closest('.fg-view') ? inGraph(event, event.target) : findRow(event.target);
    if (!target) return;
    event.preventDefault();
    const box = event.target.getBoundingClientRect();
    // opened by key there is no pointer position
    openMenu(target, event.clientX || box.left, event.clientY || box.bottom);
  });
  page.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('[data-open-menu]')) return;
    const item = event.target instanceof Element ? event.target.closest('#frame-menu [data-act]') : null;
    if (item instanceof HTMLElement && open) {
      const { subject } = open;
      closeMenu(true);
      act(item.dataset.act ?? '', subject);
    } else closeMenu(false);
  });
  page.addEventListener('keydown', (event) => {
    if (open) press(event);
  });
  page.addEventListener('htmx:beforeSwap', (event) => {
    if (changesPage(event)) closeMenu(false);
  });
}
