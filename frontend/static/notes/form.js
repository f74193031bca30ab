/** Form of a note: its time is in the browser's time zone, and is sent with its offset. */

const form = document.querySelector('form[data-note-form]');
const field = form?.querySelector('input[type="datetime-local"]');

/** Format a time for the field, with seconds. @param {Date} time */
function formatTime(time) {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

if (form instanceof HTMLFormElement && field instanceof HTMLInputElement) {
  const given = new Date(`${field.value}Z`);
  if (!Number.isNaN(given.getTime())) field.value = formatTime(given);
  form.addEventListener('formdata', ({ formData }) => {
    const time = new Date(field.value);
    if (!Number.isNaN(time.getTime())) formData.set('at', time.toISOString());
  });
}
