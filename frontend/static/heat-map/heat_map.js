/**
 * Selection in a heat map: drag over cells or click one; by keyboard with arrows, Shift and Enter.
 */

import { clock, locale } from '../shell/texts.js';
import { visitWith } from '../shell/visit.js';
import { formatCount } from '../units.js';
import { buildBox, findCell, moveCell, pickCells, countProfiles, readGrid, getTimes } from './cells.js';
import { showTimeAxis } from './time_axis.js';

/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const minute = new Intl.DateTimeFormat(locale(), {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  ...clock(),
});

/** @param {HTMLElement} view */
function watch(view) {
  const graphic = view.querySelector('svg.cells');
  const pick = view.querySelector('rect.pick');
  const said = view.querySelector('[data-said]');
  if (!(graphic instanceof SVGElement) || !(pick instanceof SVGElement) || !(said instanceof HTMLElement)) return;
  const grid = readGrid(view.dataset);
  /** @type {import('./cells.js').Cell | null} */
  let from = null;
  let to = { x: grid.columns - 1, y: 0 };

  const show = () => {
    const box = buildBox(from ?? to, to);
    for (const [name, value] of Object.entries(box)) pick.setAttribute(name, String(value));
    pick.removeAttribute('hidden');
    const [start, end] = getTimes(grid, box);
    const words = { from: minute.format(start), to: minute.format(end), n: formatCount(countProfiles(grid, box)) };
    said.textContent = fill(said.dataset.said ?? '', words);
  };
  const follow = () => visitWith(pickCells(grid, buildBox(from ?? to, to)));
  /** @param {PointerEvent} event */
  const at = (event) => {
    const box = graphic.getBoundingClientRect();
    return findCell(grid, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  };

  graphic.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    view.focus({ preventScroll: true });
    graphic.setPointerCapture(event.pointerId);
    from = to = at(event);
    show();
  });
  graphic.addEventListener('pointermove', (event) => {
    if (!graphic.hasPointerCapture(event.pointerId)) return;
    to = at(event);
    show();
  });
  graphic.addEventListener('pointerup', (event) => {
    if (!graphic.hasPointerCapture(event.pointerId)) return;
    graphic.releasePointerCapture(event.pointerId);
    follow();
  });
  view.addEventListener('keydown', (event) => {
    const step = STEPS[event.key];
    if (step) {
      if (event.shiftKey) from ??= to;
      else from = null;
      to = moveCell(grid, to, ...step);
      show();
    } else if (event.key === 'Enter') follow();
    else return;
    event.preventDefault();
  });
}

/** @param {string} text @param {Record<string, string | number>} words */
function fill(text, words) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(words[name] ?? whole));
}

for (const view of document.querySelectorAll('.heat-view')) {
  if (!(view instanceof HTMLElement)) continue;
  watch(view);
  const axis = view.querySelector('.times');
  if (axis instanceof SVGElement) showTimeAxis(axis);
}
