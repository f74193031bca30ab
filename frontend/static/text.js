/** Display of names: control characters replaced, and truncated to their box. */

/**
 * @typedef {object} Label
 * @property {string} full name as reported
 * @property {string} whole `package · function`, or the full name if it has no package in it
 * @property {string} narrow the same with the function first, for boxes too narrow for `whole`
 * @property {number} leaf length of the function in `narrow`
 */

// Control characters, and characters that change the text direction.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const PLAIN = /^[\x20-\x7e\u00b7]*$/;

/** Replace every invisible character with U+FFFD. @param {string} name */
export function markInvisible(name) {
  return name.replace(UNSEEN, '\ufffd');
}

const TAIL = 6; // characters: a separator and a truncated package of three

/**
 * Return the form of a label for a box: the package first if all of it fits, else the function.
 * @param {Label} label
 * @param {number} room in CSS pixels
 * @param {number} cell width of a character of the monospace font
 */
export function formFor({ whole, narrow, leaf }, room, cell) {
  const fits = Math.floor(room / cell);
  if (whole.length <= fits) return whole;
  return fits < leaf + TAIL ? narrow.slice(0, leaf) : narrow;
}

/**
 * @param {string} label
 * @param {number} room in CSS pixels
 * @param {number} cell width of a character of the monospace font
 * @param {(text: string) => number} measure for text that is not plain ASCII
 * @returns {string} the label, truncated with …; "" if not even three characters fit
 */
export function truncateToFit(label, room, cell, measure) {
  const fits = Math.floor(room / cell);
  if (fits < 3) return '';
  const head = label.length > fits ? label.slice(0, fits) : label;
  if (PLAIN.test(head)) return label.length > fits ? `${label.slice(0, fits - 1)}…` : label;
  return truncateByMeasure(Array.from(markInvisible(label.slice(0, fits * 2))), label.length > fits * 2, room, measure);
}

/**
 * @param {string[]} characters
 * @param {boolean} more the label continues after them
 * @param {number} room
 * @param {(text: string) => number} measure
 */
function truncateByMeasure(characters, more, room, measure) {
  const whole = characters.join('');
  if (!more && measure(whole) <= room) return whole;
  let low = 0;
  let high = characters.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(`${characters.slice(0, middle).join('')}…`) <= room) low = middle;
    else high = middle - 1;
  }
  return low ? `${characters.slice(0, low).join('')}…` : '';
}

/**
 * Insert values into a translated sentence: "{frames} frames" and {frames: "113"}.
 * @param {string} sentence
 * @param {Record<string, string>} values
 */
export function insertValues(sentence, values) {
  return sentence.replace(/\{([\w-]+)\}/g, (whole, key) => values[key] ?? whole);
}
