/**
 * Days in the browser's time zone: with a date field that has `data-end`, the time when its day ends is sent under
 * that name.
 */

/** @param {Document} page */
export function watchDates(page) {
  page.addEventListener('formdata', ({ target, formData }) => {
    if (!(target instanceof HTMLFormElement)) return;
    for (const field of target.elements) {
      if (!(field instanceof HTMLInputElement) || !field.dataset.end) continue;
      const end = new Date(`${field.value}T23:59:59`);
      if (!Number.isNaN(end.getTime())) formData.set(field.dataset.end, end.toISOString());
    }
  });
}
