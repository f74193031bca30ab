/**
 * Range menu (`details[data-range]`): custom range in the browser's time zone, with a calendar.
 *
 * The fields change the URL's `from` and `to` when the button or Enter applies them; what is wrong
 * with them is said before that.
 */

import { formatForInput } from '../shell/times.js';
import { importOrNotify } from '../shell/lazy.js';
import { visit } from '../shell/visit.js';

/** @typedef {import("./calendar.js").Calendar} Calendar */
/** @typedef {{menu: HTMLElement, custom: HTMLElement, from: HTMLInputElement, to: HTMLInputElement}} Parts */

/** @type {WeakMap<Element, Calendar>} */
const calendars = new WeakMap();

/** @param {unknown} target @returns {Parts | null} */
function findParts(target) {
  const menu = target instanceof Element ? target.closest('details[data-range]') : null;
  const custom = menu?.querySelector('.custom');
  const from = menu?.querySelector('input[name=from]');
  const to = menu?.querySelector('input[name=to]');
  if (!(menu instanceof HTMLElement) || !(custom instanceof HTMLElement)) return null;
  if (!(from instanceof HTMLInputElement) || !(to instanceof HTMLInputElement)) return null;
  return { menu, custom, from, to };
}

/**
 * Return the time in a field: the exact one of the range, with its seconds, until it is edited.
 * @param {HTMLInputElement} input
 */
function readTime(input) {
  return new Date(input.value === input.defaultValue ? (input.dataset.moment ?? '') : input.value);
}

/** @param {Parts} parts @returns {string} name of the attribute with the reason, "" if all is well */
function findProblem({ custom, from, to }) {
  const [start, end] = [readTime(from).getTime(), readTime(to).getTime()];
  if (Number.isNaN(start) || Number.isNaN(end)) return 'missing';
  if (start >= end) return 'order';
  if (start >= Date.now()) return 'future';
  return end <= Date.parse(custom.dataset.oldest ?? '') ? 'old' : '';
}

/** @param {Parts} parts @param {string} problem */
function say({ custom, from, to }, problem) {
  const line = custom.querySelector('.wrong');
  if (!(line instanceof HTMLElement)) return;
  line.textContent = problem ? (custom.dataset[problem] ?? '') : '';
  line.hidden = !problem;
  for (const input of [from, to]) {
    if (problem) input.setAttribute('aria-invalid', 'true');
    else input.removeAttribute('aria-invalid');
  }
}

/** @param {Parts} parts */
function apply(parts) {
  const problem = findProblem(parts);
  say(parts, problem);
  if (problem) return parts.from.focus();
  parts.menu.removeAttribute('open');
  visit(
    'range',
    [parts.from, parts.to].map((input) => `${readTime(input).toISOString().slice(0, 19)}Z`),
  );
}

/** Show the calendar, whose script is loaded when a menu is first opened. @param {Parts} parts */
async function open(parts) {
  const { menu, custom, from, to } = parts;
  say(parts, '');
  const host = custom.querySelector('.calendar');
  const script = await importOrNotify(() => import('./calendar.js'));
  if (!(host instanceof HTMLElement) || !script) return;
  const calendar = calendars.get(menu) ?? new script.Calendar(host, custom.dataset);
  calendars.set(menu, calendar);
  calendar.choose = (start, end) => {
    from.value = formatForInput(start);
    to.value = formatForInput(end);
    say(parts, '');
  };
  calendar.show(readTime(from), readTime(to));
}

document.addEventListener(
  'toggle',
  (event) => {
    const parts = findParts(event.target);
    if (parts && event.target === parts.menu && parts.menu.hasAttribute('open')) void open(parts);
  },
  { capture: true },
);

document.addEventListener('click', (event) => {
  if (!(event.target instanceof Element) || !event.target.closest('[data-apply-range]')) return;
  const parts = findParts(event.target);
  if (parts) apply(parts);
});

document.addEventListener('keydown', (event) => {
  const parts = event.key === 'Enter' && event.target instanceof HTMLInputElement ? findParts(event.target) : null;
  if (!parts) return;
  event.preventDefault();
  apply(parts);
});

document.addEventListener('change', (event) => {
  const parts = event.target instanceof HTMLInputElement ? findParts(event.target) : null;
  if (!parts) return;
  say(parts, '');
  calendars.get(parts.menu)?.mark(readTime(parts.from), readTime(parts.to));
});
