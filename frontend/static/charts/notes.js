/**
 * Notes on a time axis: a line with a link at its foot, and their texts in the readout.
 *
 * The link to the form (`a[data-add-note-at]`) takes the time of the chart's step that was clicked,
 * or confirmed with Enter (event `chart-step`).
 */

import { insertValues, markInvisible } from '../text.js';
import { momentText, stepText } from './times.js';

/** @typedef {import("./uplot.js").Plot} Plot */
/** @typedef {[number, string, number]} Note seconds since 1970, text, id */

/**
 * Draw the notes; `point` gets the position of a note when its link gets focus, and -1 when it loses it.
 * @param {HTMLElement} chart with the URL of the list of notes in `data-notes`
 * @param {Plot} plot
 * @param {Note[]} notes by time
 * @param {string} colour
 * @param {(left: number) => void} point
 */
export function drawNotes(chart, plot, notes, colour, point) {
  for (const old of plot.over.querySelectorAll('.note-mark')) old.remove();
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio || 1;
  ctx.save();
  ctx.fillStyle = colour;
  for (const [time, text, id] of notes) {
    const left = plot.valToPos(time, 'x');
    if (left < 0 || left > plot.over.clientWidth) continue;
    ctx.fillRect(Math.round(plot.valToPos(time, 'x', true)), bbox.top, ratio, bbox.height);
    plot.over.append(createNoteLink(chart, id, text, left, point));
  }
  ctx.restore();
}

/**
 * @param {HTMLElement} chart
 * @param {number} id
 * @param {string} text
 * @param {number} left
 * @param {(left: number) => void} point
 */
function createNoteLink(chart, id, text, left, point) {
  const link = document.createElement('a');
  link.className = 'note-mark';
  link.href = `${chart.dataset.notes ?? ''}#note-${id}`;
  link.setAttribute('aria-label', noteText(chart, text));
  link.style.left = `${left}px`;
  // A press on the link is not the start of a drag, and its keys are not the chart's.
  for (const type of ['pointerdown', 'keydown']) link.addEventListener(type, (event) => event.stopPropagation());
  link.addEventListener('focus', () => point(left));
  link.addEventListener('blur', () => point(-1));
  return link;
}

/** @param {HTMLElement} chart @param {string} text */
function noteText(chart, text) {
  return insertValues(chart.dataset.note ?? '{text}', { text: markInvisible(text) });
}

/**
 * Return rows of the readout for the notes within a step.
 * @param {HTMLElement} chart
 * @param {Note[]} notes
 * @param {number} from
 * @param {number} to
 */
export function noteRows(chart, notes, from, to) {
  const inside = notes.filter(([time]) => time >= from && time < to);
  return inside.map(([, text]) => ({ name: noteText(chart, text), value: '', whole: true }));
}

document.addEventListener('chart-step', (event) => {
  const link = document.querySelector('a[data-add-note-at]');
  if (!(link instanceof HTMLAnchorElement) || !(event instanceof CustomEvent)) return;
  const url = new URL(link.href);
  url.searchParams.set('at', momentText(event.detail.at));
  link.href = url.href;
  link.textContent = insertValues(link.dataset.at ?? '', { time: stepText(event.detail.at) });
});
