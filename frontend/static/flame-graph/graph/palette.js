/** Colours of the stylesheet for the canvas. */

import { FOLDED, MATCH, PACKAGE_TOKENS, TOKENS } from '../packages/colours.js';
import { readPixel } from './pixels.js';

/**
 * @typedef {object} Palette
 * @property {string[]} fill a colour for each of TOKENS
 * @property {number[]} pixel the same colours as the bytes of an image
 * @property {string[]} ink a readable text colour on each
 * @property {string} hatch of lines over folded nodes
 * @property {string} font
 */

/** @param {Element} element @returns {Palette} */
export function readPalette(element) {
  const probe = document.createElement('i');
  element.append(probe);
  const colour = (/** @type {string} */ token) => {
    probe.style.color = `var(--${token})`;
    return getComputedStyle(probe).color;
  };
  const fill = TOKENS.map(colour);
  const frame = colour('frame-text');
  const dim = colour('dim-text');
  const face = getComputedStyle(element).getPropertyValue('--mono').trim() || 'monospace';
  const found = colour('match-text');
  probe.remove(); // colours resolve only for elements in the document
  const findInk = (/** @type {string} */ css, /** @type {number} */ i) => {
    if (i < PACKAGE_TOKENS.length) return frame;
    return i === FOLDED ? dim : i === MATCH ? found : chooseInk(css);
  };
  const ink = fill.map(findInk);
  return { fill, pixel: fill.map(readPixel), ink, hatch: dim, font: `11.5px ${face}` };
}

/** Return black or white, whichever has more contrast. @param {string} css rgb(…) */
export function chooseInk(css) {
  const [r, g, b] = (css.match(/[\d.]+/g) ?? ['0', '0', '0']).slice(0, 3).map((text) => {
    const part = Number(text) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000000' : '#ffffff';
}
