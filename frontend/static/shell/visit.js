/** Navigation to another state of the page: the URL changes at once, then the page follows. */

import { changedAddress, pageDependents } from './view_address.js';

/** @typedef {[parameter: string, value: string | string[]]} Change */

let loading = ''; // URL of the page that the browser is loading

/** @type {(address: string) => void} */
let show = (address) => {
  loading = address;
  location.assign(address);
};

/**
 * Return the URL that the next change applies to; of two quick changes the second keeps the first.
 */
function currentAddress() {
  return loading || location.href;
}

/**
 * Set how the page shows another URL, instead of loading it.
 * @param {(address: string) => void} other
 */
export function showBy(other) {
  show = other;
}

/** Return the current URL with each of the changes applied. @param {Change[]} changes */
export function buildAddress(changes) {
  const dependents = pageDependents();
  return changes.reduce(
    (address, [parameter, value]) => changedAddress(address, parameter, value, dependents),
    currentAddress(),
  );
}

/** Show the page with each of the changes applied. @param {Change[]} changes */
export function visitWith(changes) {
  const address = buildAddress(changes);
  if (address !== currentAddress()) show(address);
}

/**
 * Show the page with one parameter changed.
 * @param {string} parameter
 * @param {string | string[]} value
 */
export function visit(parameter, value) {
  visitWith([[parameter, value]]);
}

/** @param {string} parameter @returns {string[]} its values in the current URL */
export function getValues(parameter) {
  return new URL(currentAddress()).searchParams.getAll(parameter);
}

/**
 * Call back when the browser restores the page as it was left, after navigating back.
 * @param {() => void} restored
 */
export function watchReturns(restored) {
  addEventListener('pageshow', () => {
    loading = '';
    restored();
  });
}
