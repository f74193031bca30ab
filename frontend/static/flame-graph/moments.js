/** Moments in the browser's own time: the strip's axis and the picker's date and time. */

const minute = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric' });

/** @param {ParentNode} root */
export function showMoments(root) {
  for (const text of root.querySelectorAll('text[data-time]')) {
    const time = new Date(text.getAttribute('data-time') ?? '');
    const format = text.getAttribute('data-show') === 'day' ? day : minute;
    text.textContent = format.format(time);
  }
  const input = root.querySelector('input[type=datetime-local][data-moment]');
  if (input instanceof HTMLInputElement && !('local' in input.dataset)) localise(input);
}

/**
 * The server reads a time without a zone as UTC; a person means theirs.
 * @param {HTMLInputElement} input
 */
function localise(input) {
  input.dataset.local = '';
  input.value = localText(new Date(input.dataset.moment ?? ''));
  input.defaultValue = input.value;
  const label = input.closest('label')?.querySelector('.sr');
  if (label) label.textContent = input.dataset.label ?? '';
}

/** As an input of type datetime-local has it. @param {Date} time */
export function localText(time) {
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${date}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** The picker's moment in UTC, before it is sent. @param {FormData} body */
export function momentToUtc(body) {
  const local = body.get('at');
  const input = document.querySelector('input[type=datetime-local][data-local]');
  if (typeof local !== 'string' || !local || !input) return;
  const time = new Date(local);
  if (!Number.isNaN(time.getTime())) body.set('at', `${time.toISOString().slice(0, 19)}Z`);
}
