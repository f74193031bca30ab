/** The chart of profiles over time: what is dragged over becomes the range that is selected. */

import { askFor } from './answers.js';

const LEAST = 4; // pixels: less is a click

/** @type {{strip: Element, from: number} | null} a drag under way, from where in the window */
let drag = null;

/** @param {EventTarget | null} target */
function stripOf(target) {
  return target instanceof Element ? target.closest('#strip') : null;
}

/** The two ends of the drag as shares of the width. @param {MouseEvent} event @returns {[number, number]} */
function ends(event) {
  const box = /** @type {NonNullable<typeof drag>} */ (drag).strip.getBoundingClientRect();
  const share = (/** @type {number} */ x) => Math.min(1, Math.max(0, (x - box.left) / box.width));
  const [a, b] = [share(drag?.from ?? 0), share(event.clientX)];
  return a < b ? [a, b] : [b, a];
}

/** @param {MouseEvent} event */
function show(event) {
  const brush = drag?.strip.querySelector('.brush');
  if (!brush) return;
  const [left, right] = ends(event);
  brush.setAttribute('x', `${left * 100}%`);
  brush.setAttribute('width', `${(right - left) * 100}%`);
}

/** @param {Element} strip @param {number} share 0 … 1 @returns {string} RFC 3339, to the second */
function momentAt(strip, share) {
  const [from, to] = ['data-from', 'data-to'].map((name) => Date.parse(strip.getAttribute(name) ?? ''));
  return `${new Date(from + (to - from) * share).toISOString().slice(0, 19)}Z`;
}

/** @param {MouseEvent} event */
function choose(event) {
  const { strip, from } = /** @type {NonNullable<typeof drag>} */ (drag);
  const [left, right] = ends(event);
  drag = null;
  if (Math.abs(event.clientX - from) < LEAST) return;
  const [start, end] = [momentAt(strip, left), momentAt(strip, right)];
  if (start === end) return;
  void askFor((parameters) => {
    for (const name of ['span', 'end', 'at', 'profile']) parameters.delete(name);
    parameters.set('from', start);
    parameters.set('to', end);
  });
}

/** @param {Document} page */
export function watchStrip(page) {
  page.addEventListener('pointerdown', (event) => {
    const strip = stripOf(event.target);
    if (!strip || event.button !== 0) return;
    event.preventDefault();
    drag = { strip, from: event.clientX };
  });
  page.addEventListener('pointermove', (event) => drag && show(event));
  page.addEventListener('pointerup', (event) => drag && choose(event));
  page.addEventListener('pointercancel', () => (drag = null));
}
