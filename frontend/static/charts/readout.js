/** Readout at a chart's cursor: the time and the value of each series, also for screen readers. */

import { markInvisible } from '../text.js';

/**
 * @typedef {object} Reading
 * @property {string} when
 * @property {{name: string, value: string, number?: number, swatch?: string, whole?: boolean}[]} rows
 *   `number` is the series' colour; `swatch` a class of a swatch instead; `whole`: a name without a value, wrapped
 */

const GAP = 14;

export class Readout {
  /** @param {HTMLElement} host positioned element; the table stays within its width */
  constructor(host) {
    this.host = host;
    this.box = document.createElement('div');
    this.box.className = 'readout pop';
    this.box.hidden = true;
    this.said = document.createElement('p');
    this.said.className = 'sr';
    this.said.setAttribute('aria-live', 'polite');
    host.append(this.box, this.said);
  }

  /** @param {Reading} reading @param {number} x in the host's pixels */
  show(reading, x) {
    const head = document.createElement('header');
    head.append(buildTextElement('b', reading.when));
    const table = document.createElement('table');
    for (const row of reading.rows) table.insertRow().append(...buildCells(row));
    this.box.replaceChildren(head, table);
    this.box.hidden = false;
    const { clientWidth: room } = this.host;
    const width = this.box.offsetWidth;
    const left = x + GAP + width <= room ? x + GAP : x - GAP - width;
    this.box.style.left = `${Math.max(0, Math.min(left, room - width))}px`;
  }

  hide() {
    this.box.hidden = true;
  }

  /** @param {Reading} reading */
  say(reading) {
    const rows = reading.rows.map(({ name, value }) => `${markInvisible(name)} ${value}`.trim());
    this.said.textContent = [reading.when, ...rows].join(', ');
  }
}

/** @param {Reading["rows"][0]} row */
function buildCells({ name, value, number, swatch, whole }) {
  const first = document.createElement('td');
  const look = swatch ?? (number ? `s${number}` : '');
  if (look) {
    const square = document.createElement('i');
    square.className = `sw ${look}`;
    first.append(square);
  }
  first.append(markInvisible(name));
  if (whole) {
    first.className = 'whole';
    first.colSpan = 2;
    return [first];
  }
  const second = buildTextElement('td', value);
  second.className = 'num strong';
  return [first, second];
}

/** @param {string} tag @param {string} text */
function buildTextElement(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}
