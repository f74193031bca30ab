/** How a page is asked for with other parameters: by a new address, where the page has no way of its own. */

/** @typedef {(change: (parameters: URLSearchParams) => void) => void} Go */

/** @type {Go} */
let go = (change) => {
  const url = new URL(location.href);
  change(url.searchParams);
  location.assign(url);
};

/** @param {Go} other */
export function goBy(other) {
  go = other;
}

/** @param {(parameters: URLSearchParams) => void} change */
export function goTo(change) {
  go(change);
}
