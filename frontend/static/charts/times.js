/** Formatting of times on charts, in the browser's time zone. */

import { clock, locale } from '../shell/texts.js';

const DAY = 86_400;

const minute = new Intl.DateTimeFormat(locale(), clock());
const day = new Intl.DateTimeFormat(locale(), { weekday: 'short', day: 'numeric' });
const month = new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short' });
const whole = new Intl.DateTimeFormat(locale(), {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  ...clock(),
});

/**
 * Format a label of the time axis.
 * @param {number} seconds since 1970
 * @param {number} step seconds between the labels
 * @param {number} span seconds of the axis
 */
export function axisText(seconds, step, span) {
  const format = step < DAY ? minute : span > 8 * DAY ? month : day;
  return format.format(seconds * 1000);
}

/** Format the range of one step. @param {number} from seconds since 1970 @param {number} to */
export function rangeText(from, to) {
  const sameDay = new Date(from * 1000).toDateString() === new Date(to * 1000).toDateString();
  return `${whole.format(from * 1000)} – ${(sameDay ? minute : whole).format(to * 1000)}`;
}

/** Format the start of a step. @param {number} seconds since 1970 */
export function stepText(seconds) {
  return whole.format(seconds * 1000);
}

/** Format as RFC 3339, to the second. @param {number} seconds since 1970 */
export function momentText(seconds) {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}
