/** Links to what is shown: those that follow the clock, and those that stay at this moment. */

import { copyText } from './copying.js';

const SIDES = ['', 'b.']; // of a comparison: what the parameters of each begin with

/**
 * The selected range, as the page has it.
 * @param {string} side
 * @returns {{from: string, to: string} | null}
 */
function rangeOf(side) {
  const shown = document.querySelector('#range');
  const [from, to] = ['from', 'to'].map((end) => shown?.getAttribute(`data-${side.replace('.', '-')}${end}`));
  return from && to ? { from, to } : null;
}

/**
 * The same profiles for ever: each range by its ends.
 * @param {Record<string, string>} [values] other parameters
 */
export function absoluteLink(values = {}) {
  const url = new URL(relativeLink());
  for (const side of SIDES) {
    const ends = rangeOf(side);
    if (!ends) continue;
    for (const name of ['span', 'end']) url.searchParams.delete(side + name);
    url.searchParams.set(`${side}from`, ends.from);
    url.searchParams.set(`${side}to`, ends.to);
  }
  for (const [name, value] of Object.entries(values)) if (value) url.searchParams.set(name, value);
  return url.href;
}

/** What is shown, as the address has it, with the service and type that it may leave open. */
export function relativeLink() {
  const url = new URL(location.href);
  const page = document.querySelector('#flame, #compare, #history');
  for (const name of ['service', 'type']) {
    const value = page?.getAttribute(`data-${name}`);
    if (value && !url.searchParams.has(name)) url.searchParams.set(name, value);
  }
  return url.href;
}

/** @param {string} kind absolute or relative */
export function copyLink(kind) {
  void copyText(kind === 'absolute' ? absoluteLink() : relativeLink(), 'link');
}

/** The menu of links. @param {Document} page */
export function watchLinks(page) {
  page.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('#links [data-link]') : null;
    if (!(button instanceof HTMLElement)) return;
    button.closest('details')?.removeAttribute('open');
    copyLink(button.dataset.link ?? '');
  });
}
