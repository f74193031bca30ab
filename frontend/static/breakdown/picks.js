/** Check boxes of the table of values: exactly two values can be compared. */

const SIDES = 2;

/** @param {Document} page */
export function watchPicks(page) {
  page.addEventListener('change', () => settlePicks(page));
  page.addEventListener('htmx:afterSettle', () => settlePicks(page));
  page.addEventListener('htmx:historyRestore', () => settlePicks(page));
  addEventListener('pageshow', () => settlePicks(page));
  settlePicks(page);
}

/** Enable the button once two values are checked, and the other boxes until then. @param {Document} page */
function settlePicks(page) {
  const boxes = [...page.querySelectorAll('input[name=pick]')].filter((box) => box instanceof HTMLInputElement);
  const checked = boxes.filter((box) => box.checked).length;
  for (const box of boxes) box.disabled = checked >= SIDES && !box.checked;
  const button = page.querySelector('button[name=compare]');
  if (button instanceof HTMLButtonElement) button.disabled = checked !== SIDES;
}
