/** Times in the browser's time zone, for chart axes and input fields. */

import { clock, locale } from '../shell/texts.js';

const minute = new Intl.DateTimeFormat(locale(), clock());
const day = new Intl.DateTimeFormat(locale(), { weekday: 'short', day: 'numeric' });

/** @param {ParentNode} root */
export function showMoments(root) {
  for (const text of root.querySelectorAll('text[data-time]')) {
    const time = new Date(text.getAttribute('data-time') ?? '');
    const format = text.getAttribute('data-show') === 'day' ? day : minute;
    text.textContent = format.format(time);
  }
}

/** Format a time for an input of type datetime-local. @param {Date} time */
export function localText(time) {
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date}T${two(time.getHours())}:${two(time.getMinutes())}`;
}
