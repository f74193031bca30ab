import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { formatCount, formatPercent, formatValue } from '../../../frontend/static/units.js';

const cases = JSON.parse(readFileSync(new URL('../units.json', import.meta.url), 'utf8'));

for (const [value, unit, text] of cases.value) {
  test(`${value} ${unit} reads ${text}`, () => assert.equal(formatValue(value, unit), text));
}

for (const [part, whole, text] of cases.percent) {
  test(`${part} of ${whole} reads ${text}`, () => assert.equal(formatPercent(part, whole), text));
}

for (const [value, text] of cases.count) {
  test(`the count ${value} reads ${text}`, () => assert.equal(formatCount(value), text));
}
