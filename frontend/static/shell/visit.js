/** A page with another state: its address changes at once, and the page follows in its own way. */

import { changedAddress, pageDependents } from './view_address.js';

/** @typedef {[parameter: string, value: string | string[]]} Change */

let loading = ''; // the address of the page that the browser is about to show

/** @type {(address: string) => void} */
let show = (address) => {
  loading = address;
  location.assign(address);
};

/** The address that the next change applies to: of two quick changes the second keeps the first. */
export function currentAddress() {
  return loading || location.href;
}

/** Lets a page show other addresses without being loaded again. @param {(address: string) => void} other */
export function showBy(other) {
  show = other;
}

/** The current address with each of the changes made. @param {Change[]} changes */
export function addressWith(changes) {
  const dependents = pageDependents();
  return changes.reduce((address, [parameter, value]) => changedAddress(address, parameter, value, dependents), currentAddress());
}

/** Shows the page with each of the changes made. @param {Change[]} changes */
export function visitWith(changes) {
  const address = addressWith(changes);
  if (address !== currentAddress()) show(address);
}

/** Shows the page with one parameter changed. @param {string} parameter @param {string | string[]} value */
export function visit(parameter, value) {
  visitWith([[parameter, value]]);
}

/** @param {string} parameter @returns {string[]} its values in the current address */
export function valuesOf(parameter) {
  return new URL(currentAddress()).searchParams.getAll(parameter);
}

/** After a step back the browser shows a page as it was left. @param {() => void} restored */
export function watchReturns(restored) {
  addEventListener('pageshow', () => {
    loading = '';
    restored();
  });
}
