/**
 * Colour difference (CIEDE2000), contrast (WCAG 2), and simulated colour blindness (Machado,
 * Oliveira and Fernandes 2009, severity 1), for tests.
 */

/** @typedef {[number, number, number]} Triple */

/** @type {Record<string, number[][]>} */
const MATRICES = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

const XYZ = [
  [0.4124564, 0.3575761, 0.1804375],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339, 0.119192, 0.9503041],
];
const WHITE = [0.95047, 1, 1.08883];

/** @param {number[][]} matrix @param {number[]} vector */
const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, value, i) => sum + value * vector[i], 0));

/** Return linear red, green and blue. @param {string} hex #rrggbb */
function linear(hex) {
  return [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
}

/** @param {number[]} rgb linear */
function lab(rgb) {
  const [x, y, z] = times(XYZ, rgb).map((value, i) => {
    const part = value / WHITE[i];
    return part > 0.008856 ? Math.cbrt(part) : 7.787 * part + 16 / 116;
  });
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** Colours as CIE L*a*b*, as an eye sees them. @type {Record<string, (hex: string) => number[]>} */
export const SIGHTS = {
  'full colour vision': (hex) => lab(linear(hex)),
  ...Object.fromEntries(
    Object.entries(MATRICES).map(([name, matrix]) => [
      name,
      (/** @type {string} */ hex) => lab(times(matrix, linear(hex)).map((value) => Math.min(1, Math.max(0, value)))),
    ]),
  ),
};

const rad = (/** @type {number} */ degrees) => (degrees * Math.PI) / 180;

/** Return the CIEDE2000 difference of two L*a*b* colours. @param {number[]} one @param {number[]} other */
export function difference([l1, a1, b1], [l2, a2, b2]) {
  const c = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 1.5 - 0.5 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7));
  const [c1, c2] = [Math.hypot(a1 * g, b1), Math.hypot(a2 * g, b2)];
  const hue = (/** @type {number} */ a, /** @type {number} */ b) =>
    ((Math.atan2(b, a * g) * 180) / Math.PI + 360) % 360;
  const [h1, h2] = [hue(a1, b1), hue(a2, b2)];
  const turn = c1 * c2 ? ((h2 - h1 + 540) % 360) - 180 : 0;
  const [l, chroma, h] = [(l1 + l2) / 2, (c1 + c2) / 2, c1 * c2 ? (h1 + turn / 2 + 360) % 360 : h1 + h2];
  const t =
    1 -
    0.17 * Math.cos(rad(h - 30)) +
    0.24 * Math.cos(rad(2 * h)) +
    0.32 * Math.cos(rad(3 * h + 6)) -
    0.2 * Math.cos(rad(4 * h - 63));
  const dl = (l2 - l1) / (1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2));
  const dc = (c2 - c1) / (1 + 0.045 * chroma);
  const dh = (2 * Math.sqrt(c1 * c2) * Math.sin(rad(turn / 2))) / (1 + 0.015 * chroma * t);
  const rotation =
    -2 * Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7)) * Math.sin(rad(60 * Math.exp(-(((h - 275) / 25) ** 2))));
  return Math.sqrt(dl ** 2 + dc ** 2 + dh ** 2 + rotation * dc * dh);
}

/** Return the contrast ratio of two colours. @param {string} one @param {string} other */
export function contrast(one, other) {
  const [low, high] = [one, other].map((hex) => times(XYZ, linear(hex))[1]).sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}
