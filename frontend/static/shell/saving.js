// Forms that save the page (form[data-save]): they send its current address, which scripts may have
// changed since the page was rendered.

/** @param {Document} page */
export function watchSaving(page) {
  const settle = (/** @type {Event} */ event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !('save' in form.dataset)) return;
    const field = form.elements.namedItem('address');
    if (field instanceof HTMLInputElement) field.value = location.pathname + location.search;
  };
  page.addEventListener('submit', settle, { capture: true }); // before htmx reads the fields
}
