/**
 * Times in the browser's time zone: in `<time datetime="…">` and in input fields.
 *
 * Of `<time>`, `data-ago` shows the elapsed time ("14 s ago"), `data-day` the day, `data-second` day and time with
 * seconds; otherwise day and time.
 */

import { clock, locale, getText } from './texts.js';

const SECOND = 1000,
  MINUTE = 60 * SECOND,
  HOUR = 60 * MINUTE,
  DAY = 24 * HOUR;
const REFRESH_MS = 5 * SECOND;

const day = new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short', year: 'numeric' });
const second = new Intl.DateTimeFormat(locale(), {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  ...clock(),
  second: '2-digit',
});
const moment = new Intl.DateTimeFormat(locale(), {
  day: 'numeric',
  month: 'short',
  ...clock(),
});

/**
 * Format an elapsed time as the server does: "now", "14 s ago", "3 min ago", "2 h ago", "5 days
 * ago".
 * @param {number} elapsed milliseconds
 */
export function ago(elapsed) {
  if (elapsed < SECOND) return getText('now', 'now');
  if (elapsed < MINUTE) return formatElapsed('seconds', '{n} s ago', elapsed / SECOND);
  if (elapsed < HOUR) return formatElapsed('minutes', '{n} min ago', elapsed / MINUTE);
  if (elapsed < DAY) return formatElapsed('hours', '{n} h ago', elapsed / HOUR);
  if (elapsed < 2 * DAY) return getText('day', '1 day ago');
  return formatElapsed('days', '{n} days ago', elapsed / DAY);
}

/** @param {string} name @param {string} english @param {number} elapsed in the unit of the text */
function formatElapsed(name, english, elapsed) {
  return getText(name, english).replace('{n}', String(Math.floor(elapsed)));
}

/** @param {Element} element @param {number} now */
function show(element, now) {
  if (!(element instanceof HTMLTimeElement)) return;
  const time = new Date(element.dateTime);
  if (Number.isNaN(time.getTime())) return;
  const text =
    'ago' in element.dataset
      ? ago(now - time.getTime())
      : 'day' in element.dataset
        ? day.format(time)
        : 'second' in element.dataset
          ? second.format(time)
          : moment.format(time);
  if (element.textContent !== text) element.textContent = text;
}

/** Localise all times below an element. @param {ParentNode} root */
export function showTimes(root) {
  for (const element of root.querySelectorAll('time[datetime]')) show(element, Date.now());
}

/**
 * Localise all times, those that htmx adds later, and keep elapsed times current; name the zone.
 * @param {Document} page
 */
export function watchTimes(page) {
  showTimes(page);
  nameZone(page);
  page.addEventListener('htmx:afterSwap', () => {
    showTimes(page);
    nameZone(page);
  });
  setInterval(() => showTimes(page), REFRESH_MS);
}

/**
 * Show the browser's time zone where the page names it: in the footer and in menus.
 * @param {ParentNode} root
 */
function nameZone(root) {
  const offset = -new Date().getTimezoneOffset();
  const hours = String(Math.floor(Math.abs(offset) / 60)).padStart(2, '0');
  const minutes = String(Math.abs(offset) % 60).padStart(2, '0');
  for (const element of root.querySelectorAll('[data-zone]')) {
    const text = element instanceof HTMLElement ? element.dataset.zone : '';
    if (text) element.textContent = text.replace('{}', `UTC${offset < 0 ? '-' : '+'}${hours}:${minutes}`);
  }
}

/**
 * Format a time for an input of type datetime-local, to the minute or to the second.
 * @param {Date} time
 * @param {boolean} [hasSeconds]
 */
export function formatForInput(time, hasSeconds = false) {
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  const seconds = hasSeconds ? `:${two(time.getSeconds())}` : '';
  return `${date}T${two(time.getHours())}:${two(time.getMinutes())}${seconds}`;
}
