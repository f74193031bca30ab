/**
 * History entry whose state the page shows; a failed request leads back to it.
 *
 * Entries of this page are numbered, because `history` does not tell where it is.
 */

/** @returns {number | null} number of the current entry; null for one that a link to a part made */
function current() {
  if (history.state === null) return location.hash ? null : 0;
  return typeof history.state.at === 'number' ? history.state.at : 0;
}

let shown = current() ?? 0;

/** Add a history entry for a state that is requested, but not shown yet. @param {string} address */
export function pushAddress(address) {
  history.pushState({ at: (current() ?? shown) + 1 }, '', address);
}

/** Note that the page shows the state of the current entry. */
export function noteShown() {
  shown = current() ?? shown;
}

/**
 * Go to the entry that the page shows; `popstate` follows.
 * @returns {boolean} whether that is another one than the current entry
 */
export function returnToShown() {
  const away = (current() ?? shown) - shown;
  if (away) history.go(-away);
  return away !== 0;
}
