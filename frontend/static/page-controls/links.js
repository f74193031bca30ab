/**
 * Links to the current page: relative ones follow the current time, absolute ones have fixed times.
 */

import { copyText } from './clipboard.js';

const SIDES = ['', 'b.']; // parameter prefixes of the sides of a comparison

/**
 * Return the selected range, as the page shows it.
 * @param {string} side
 * @returns {{from: string, to: string} | null}
 */
function readSideRange(side) {
  const shown = document.querySelector('#range');
  const [from, to] = ['from', 'to'].map((end) => shown?.getAttribute(`data-${side.replace('.', '-')}${end}`));
  return from && to ? { from, to } : null;
}

/**
 * Return a link to the same profiles for ever, with the times of each range fixed.
 * @param {Record<string, string>} [values] other parameters
 */
export function absoluteLink(values = {}) {
  const url = new URL(relativeLink());
  for (const side of SIDES) {
    const ends = readSideRange(side);
    if (!ends) continue;
    for (const name of ['span', 'end']) url.searchParams.delete(side + name);
    url.searchParams.set(`${side}from`, ends.from);
    url.searchParams.set(`${side}to`, ends.to);
  }
  for (const [name, value] of Object.entries(values)) if (value) url.searchParams.set(name, value);
  return url.href;
}

/** Return the page's URL, with the service and type even if they are defaults. */
function relativeLink() {
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

/** Handle clicks in the menu of links. @param {Document} page */
export function watchLinks(page) {
  page.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('#links [data-link]') : null;
    if (!(button instanceof HTMLElement)) return;
    button.closest('details')?.removeAttribute('open');
    copyLink(button.dataset.link ?? '');
  });
}
