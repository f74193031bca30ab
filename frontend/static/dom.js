/** Access to the elements of the page. */

/** @param {string} selector @returns {HTMLElement | null} */
export function findElement(selector) {
  const found = document.querySelector(selector);
  return found instanceof HTMLElement ? found : null;
}
