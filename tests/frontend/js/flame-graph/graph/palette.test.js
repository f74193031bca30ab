/** Package colours of the stylesheet: distinct for every eye, and readable, in both themes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { PACKAGE_TOKENS } from '../../../../../frontend/static/flame-graph/packages/colours.js';
import { contrast, difference, SIGHTS } from '../../colour-vision.js';

const CSS = readFileSync(new URL('../../../../../frontend/static/flamewatch.css', import.meta.url), 'utf8');
const THEMES = ['light', 'dark'];

// CIEDE2000: from 2.3 on two colours side by side are told apart; frames are rarely side by side.
const DISTINCT = 11;
const DISTINCT_DICHROMATIC = 7.8; // without red or green cones there are fewer colours
const SHARED = 4.5; // the colours of all other packages, of unknown ones and of native code are not one package's
const READABLE = 4.5; // WCAG AA

/** @param {string} token @param {number} theme */
function colourOf(token, theme) {
  const found = new RegExp(`--${token}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\);`).exec(CSS);
  assert.ok(found, `no colour --${token}`);
  return found[theme + 1];
}

/** @param {string} token */
const isShared = (token) => token === 'native' || token === 'unknown' || token.endsWith('-rest');

for (const [theme, name] of THEMES.entries()) {
  for (const [sight, simulate] of Object.entries(SIGHTS)) {
    const distinct = sight === 'full colour vision' ? DISTINCT : DISTINCT_DICHROMATIC;
    test(`package colours differ in the ${name} theme with ${sight}`, () => {
      const near = [];
      PACKAGE_TOKENS.forEach((first, i) => {
        for (const second of PACKAGE_TOKENS.slice(i + 1)) {
          const [a, b] = [first, second].map((token) => simulate(colourOf(token, theme)));
          const least = isShared(first) && isShared(second) ? SHARED : distinct;
          const found = difference(a, b);
          if (found < least) near.push(`${first} and ${second}: ${found.toFixed(1)}`);
        }
      });
      assert.deepEqual(near, []);
    });
  }

  test(`labels are readable on each package colour in the ${name} theme`, () => {
    const ink = colourOf('frame-text', theme);
    const faint = PACKAGE_TOKENS.filter((token) => contrast(colourOf(token, theme), ink) < READABLE);
    assert.deepEqual(faint, []);
  });
}

test('the difference is CIEDE2000: pairs of its test data', () => {
  const pairs = [
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, 2.5, 0], [61, -5, 29], 22.8977],
    [[90.8027, -2.0831, 1.441], [91.1528, -1.6435, 0.0447], 1.4441],
  ];
  for (const [one, other, expected] of pairs) assert.ok(Math.abs(difference(one, other) - expected) < 1e-3);
});
