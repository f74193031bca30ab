/**
 * Notes of functions, in the bar of the chosen frame and in the list of functions.
 *
 * The chart above the graph brings them, in `#function-notes`: it is loaded after the graph.
 */

import { findElement } from '../../dom.js';
import { getChosenSubject } from './frame-bar.js';

/** @returns {Map<string, HTMLAnchorElement[]>} links with the texts of notes, by function */
function notesByFunction() {
  /** @type {Map<string, HTMLAnchorElement[]>} */
  const found = new Map();
  for (const link of document.querySelectorAll('#function-notes a[data-function]')) {
    if (!(link instanceof HTMLAnchorElement)) continue;
    const name = link.dataset.function ?? '';
    found.set(name, [...(found.get(name) ?? []), link]);
  }
  return found;
}

/** Show the notes of the chosen frame's function in the bar. */
export function showBarNote() {
  const row = findElement('#frame-bar [data-bar-note]');
  if (!row) return;
  const links = notesByFunction().get(getChosenSubject()?.name ?? '') ?? [];
  row.hidden = !links.length;
  row.querySelector('[data-texts]')?.replaceChildren(...links.map((link) => link.cloneNode(true)));
}

/** Show the notes in the bar and beside the names of the list. */
export function showFunctionNotes() {
  showBarNote();
  const notes = notesByFunction();
  for (const row of document.querySelectorAll('#functions a.fn[data-name]')) {
    row.querySelector('.fn-note')?.remove();
    const links = notes.get(row.getAttribute('data-name') ?? '');
    const icon = document.querySelector('#frame-bar [data-bar-note] .icon');
    if (!links || !icon) continue;
    const tag = document.createElement('span');
    tag.className = 'tag fn-note';
    const text = document.createElement('span');
    text.textContent = links.map((link) => link.textContent).join(' · ');
    tag.append(icon.cloneNode(true), text);
    row.append(tag);
  }
}
