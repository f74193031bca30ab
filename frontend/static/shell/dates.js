/**
 * Fields of days and times in the browser's time zone. Those of times with `data-utc` have a time of UTC when they
 * come, show it in local time, and are sent with their offset. With a day whose field has `data-end`, the time when the
 * day ends is sent under that name.
 */

import { formatForInput } from './times.js';

/** @param {Document} page */
function showLocalTimes(page) {
  for (const field of page.querySelectorAll('input[data-utc]')) {
    if (!(field instanceof HTMLInputElement)) continue;
    const [time, given] = [field.value, field.defaultValue].map((text) => new Date(`${text}Z`));
    // Another one after a reload: browsers show what had been entered.
    if (time?.getTime() === given?.getTime()) field.value = formatForInput(time, true);
  }
}

/** @param {FormDataEvent} event */
function sendWithOffsets({ target, formData }) {
  if (!(target instanceof HTMLFormElement)) return;
  for (const field of target.elements) {
    if (!(field instanceof HTMLInputElement)) continue;
    const isTime = field.dataset.utc !== undefined;
    const name = isTime ? field.name : field.dataset.end;
    const time = new Date(isTime ? field.value : `${field.value}T23:59:59`);
    if (name && !Number.isNaN(time.getTime())) formData.set(name, time.toISOString());
  }
}

/** @param {Document} page */
export function watchDates(page) {
  showLocalTimes(page);
  page.addEventListener('formdata', sendWithOffsets);
}
