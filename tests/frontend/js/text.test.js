import assert from 'node:assert/strict';
import test from 'node:test';

import { insertValues, truncateToFit, formFor, markInvisible } from '../../../frontend/static/text.js';

const CELL = 7;
const measure = (text) => Array.from(text).length * CELL * 2; // the width of Chinese characters

test('a label that fits is whole, another is cut at its end', () => {
  assert.equal(truncateToFit('discounts.apply', 15 * CELL, CELL, measure), 'discounts.apply');
  assert.equal(truncateToFit('discounts.apply', 10 * CELL, CELL, measure), 'discounts…');
  assert.equal(truncateToFit('discounts.apply', 2.9 * CELL, CELL, measure), '');
});

test('the package gives way to the function in a narrow box', () => {
  const label = { full: '', whole: 'smithy-go · (*Decoder).Token', narrow: '(*Decoder).Token · smithy-go', leaf: 16 };
  const shown = (/** @type {number} */ fits) =>
    truncateToFit(formFor(label, fits * CELL, CELL), fits * CELL, CELL, measure);
  assert.equal(shown(28), 'smithy-go · (*Decoder).Token');
  assert.equal(shown(24), '(*Decoder).Token · smit…');
  assert.equal(shown(18), '(*Decoder).Token');
  assert.equal(shown(9), '(*Decode…');
});

test('wide characters are measured', () => {
  assert.equal(truncateToFit('計算する', 8 * CELL, CELL, measure), '計算する');
  assert.equal(truncateToFit('計算する', 7 * CELL, CELL, measure), '計算…');
});

test('a name of 10,000 characters is cut before it is measured', () => {
  let longest = 0;
  const spy = (text) => ((longest = Math.max(longest, text.length)), measure(text));
  truncateToFit('é'.repeat(10_000), 40 * CELL, CELL, spy);
  assert.ok(longest <= 100, `${longest} characters were measured`);
});

test('control characters and those that turn the direction are made visible', () => {
  assert.equal(markInvisible('a\u0000b\u202ec\u2066d\u0007'), 'a\ufffdb\ufffdc\ufffdd\ufffd');
  assert.equal(markInvisible('<script>alert(1)</script> é 計'), '<script>alert(1)</script> é 計');
});

test('values are put into a sentence; unknown names stay', () => {
  assert.equal(insertValues('{frames} frames of {all}', { frames: '113' }), '113 frames of {all}');
});
