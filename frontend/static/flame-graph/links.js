/** Links to what is shown: those that follow the clock, and those that stay at this moment. */

/** The selected range, as the page has it. @returns {{from: string, to: string} | null} */
function range() {
  const shown = document.querySelector('#range');
  const [from, to] = ['data-from', 'data-to'].map((name) => shown?.getAttribute(name));
  return from && to ? { from, to } : null;
}

/**
 * The same profiles for ever: the range by its ends.
 * @param {Record<string, string>} [values] other parameters
 */
export function absoluteLink(values = {}) {
  const url = new URL(relativeLink());
  const ends = range();
  if (ends) {
    for (const name of ['span', 'end', 'at']) url.searchParams.delete(name);
    url.searchParams.set('from', ends.from);
    url.searchParams.set('to', ends.to);
  }
  for (const [name, value] of Object.entries(values)) if (value) url.searchParams.set(name, value);
  return url.href;
}

/** What is shown, as the address has it, with the service and type that it may leave open. */
export function relativeLink() {
  const url = new URL(location.href);
  const bench = document.querySelector('#flame');
  for (const name of ['service', 'type']) {
    const value = bench?.getAttribute(`data-${name}`);
    if (value && !url.searchParams.has(name)) url.searchParams.set(name, value);
  }
  return url.href;
}
