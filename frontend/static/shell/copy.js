// Copy buttons: <button data-copy="id"> copies the text of the element with that id verbatim.

const SHOWN_MS = 2000;

/** @param {Document} page */
export function watchCopyButtons(page) {
  page.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-copy]') : null;
    if (button instanceof HTMLButtonElement) void copy(page, button);
  });
}

/** @param {Document} page @param {HTMLButtonElement} button */
async function copy(page, button) {
  const source = page.getElementById(button.dataset.copy ?? '');
  if (!source) return;
  const done = await write(page, source);
  const label = button.querySelector('[data-label]');
  if (!label) return;
  const was = button.dataset.was ?? (button.dataset.was = label.textContent ?? '');
  label.textContent = (done ? button.dataset.done : button.dataset.failed) ?? was;
  setTimeout(() => {
    label.textContent = was;
  }, SHOWN_MS);
}

/**
 * Copy an element's text, or select it for Ctrl-C.
 *
 * Browsers offer no clipboard on plain HTTP except localhost.
 * @param {Document} page
 * @param {Element} source
 */
async function write(page, source) {
  try {
    await navigator.clipboard.writeText(source.textContent ?? '');
    return true;
  } catch {
    page.getSelection()?.selectAllChildren(source);
    return false;
  }
}
