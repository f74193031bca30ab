/**
 * Value formatting: three significant digits and a unit chosen by magnitude.
 *
 * JavaScript counterpart of frontend/text/units.py; tests/frontend/text/units.json has the cases
 * that both must pass. Thousands and decimals are separated as the language of the page does.
 */

import { getText } from './shell/texts.js';

/** @type {Record<string, [string, number][]>} units of each kind with their size, ascending */
const SCALES = {
  nanoseconds: [
    ['ns', 1],
    ['µs', 1e3],
    ['ms', 1e6],
    ['s', 1e9],
  ],
  cores: [
    ['millicores', 1e-3],
    ['cores', 1],
  ],
  bytes: [
    ['B', 1],
    ['KiB', 2 ** 10],
    ['MiB', 2 ** 20],
    ['GiB', 2 ** 30],
    ['TiB', 2 ** 40],
    ['PiB', 2 ** 50],
  ],
};
/** @type {Record<string, string>} of units that are words; others are symbols, or names of an agent's own */
const SINGULAR = { cores: 'core', millicores: 'millicore', threads: 'thread', waits: 'wait' };
const SMALLEST = '0.01';
const PER_SECOND = '/s'; // end of the unit of a rate

/**
 * @param {number} value in `unit`
 * @param {string} unit nanoseconds, bytes, cores or count; any other name is appended as it is, and so is `/s`
 * @returns {string} such as `2.37 s`, `1.2 GiB`, `1,438`, `1 core`; zero is `0`
 */
export function formatValue(value, unit) {
  if (value === 0) return '0';
  if (value < 0) return `-${formatValue(-value, unit)}`;
  if (unit.endsWith(PER_SECOND)) return `${formatValue(value, unit.slice(0, -PER_SECOND.length))}${PER_SECOND}`;
  const scale = SCALES[unit];
  if (!scale) return withName(value, unit);
  if (value < Number(SMALLEST) * Math.min(1, scale[0][1])) return named(`<${localised(SMALLEST)}`, scale[0][0]);
  for (const [name, size] of scale) {
    const last = name === scale[scale.length - 1][0];
    if (last || Number((value / size).toPrecision(3)) < 1000) return named(digits(value / size), name);
  }
  return '';
}

/**
 * Return the step sizes of an axis in ascending order: for bytes, powers of two.
 * @param {string} unit
 * @returns {number[] | undefined} undefined: powers of ten, their halves and fifths
 */
export function roundSteps(unit) {
  return unit.startsWith('bytes') ? Array.from({ length: 60 }, (_, power) => 2 ** power) : undefined;
}

/**
 * @param {number} part
 * @param {number} whole
 * @returns {string} at most one decimal, such as `17.8%`, `69%`, `<0.1%`
 */
export function formatPercent(part, whole) {
  if (part === 0 || whole === 0) return '0';
  if (part < 0) return `-${formatPercent(-part, whole)}`;
  const percent = (part / whole) * 100;
  return `${localised(percent < 0.05 ? '<0.1' : trimmed(percent.toFixed(1)))}%`;
}

/**
 * @param {number} share difference of two shares
 * @returns {string} percentage points, such as `+21.9 pp`; zero is ""
 */
export function formatDeltaPoints(share) {
  if (share === 0) return '';
  const number = formatPercent(share, 1).replace('%', '');
  return getText('points', '{number} pp').replace('{number}', share > 0 ? `+${number}` : number);
}

/**
 * @param {number} value
 * @returns {string} a whole number with separators between thousands
 */
export function formatCount(value) {
  return grouped(value.toFixed(0));
}

/** @param {number} value @param {string} unit */
function withName(value, unit) {
  const number = value < Number(SMALLEST) ? `<${localised(SMALLEST)}` : digits(value);
  return unit === 'count' || unit === '' ? number : named(number, unit);
}

/** Append the unit, a word in the page's language and in the singular after `1`. @param {string} number @param {string} unit */
function named(number, unit) {
  const singular = SINGULAR[unit];
  if (!singular) return `${number} ${unit}`;
  const word = number === '1' ? singular : unit;
  return `${number} ${getText(`unit-${word}`, word)}`;
}

/**
 * Format three significant digits, or all integer digits if there are more.
 * @param {number} value
 */
function digits(value) {
  const exponent = Number(value.toExponential(2).split('e')[1]);
  if (exponent >= 3) return formatCount(value);
  return localised(trimmed(value.toFixed(Math.max(0, 2 - exponent))));
}

/** @param {string} number */
function trimmed(number) {
  return number.includes('.') ? number.replace(/\.?0+$/, '') : number;
}

/** @param {string} number */
function grouped(number) {
  return localised(number.replace(/\B(?=(\d{3})+$)/g, ','));
}

/** Replace the separators of English. @param {string} number */
function localised(number) {
  return number.replace(/[.,]/g, (sign) => (sign === ',' ? getText('thousands', ',') : getText('decimals', '.')));
}
