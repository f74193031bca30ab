import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { formatCount, formatPercent, formatValue, roundSteps } from '../../../frontend/static/units.js';

const cases = JSON.parse(readFileSync(new URL('../text/units.json', import.meta.url), 'utf8'));

for (const [value, unit, text] of cases.value) {
  test(`${value} ${unit} reads ${text}`, () => assert.equal(formatValue(value, unit), text));
}

for (const [part, whole, text] of cases.percent) {
  test(`${part} of ${whole} reads ${text}`, () => assert.equal(formatPercent(part, whole), text));
}

for (const [value, text] of cases.count) {
  test(`the count ${value} reads ${text}`, () => assert.equal(formatCount(value), text));
}

test('steps of bytes read as round values', () => {
  const steps = roundSteps('bytes') ?? [];
  const wide = steps.slice(10).map((step) => formatValue(step, 'bytes'));
  assert.deepEqual(wide.slice(0, 11), [
    '1 KiB',
    '2 KiB',
    '4 KiB',
    '8 KiB',
    '16 KiB',
    '32 KiB',
    '64 KiB',
    '128 KiB',
    '256 KiB',
    '512 KiB',
    '1 MiB',
  ]);
  assert.equal(
    wide.some((text) => text.includes('.')),
    false,
  );
});

test('other units keep the steps of the charts', () => assert.equal(roundSteps('nanoseconds'), undefined));
