import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { listRoundTimes } from '../../../../frontend/static/heat-map/round_times.js';

const HOUR = 3600,
  DAY = 24 * HOUR;

/** @param {string} text */
const seconds = (text) => Date.parse(text) / 1000;

/** @param {string} zone @param {string} from @param {string} to @returns {{times: string[], step: number}} */
function list(zone, from, to) {
  process.env.TZ = zone;
  const { times, step } = listRoundTimes(seconds(from), seconds(to), 7);
  return { times: times.map((time) => new Date(time * 1000).toISOString()), step };
}

/** @type {string | undefined} */
let zone;
beforeEach((context) => {
  zone = process.env.TZ;
  /** @type {import('node:test').TestContext} */ (context).after(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
});

test('days begin at midnight of the time zone', () => {
  assert.deepEqual(list('America/Los_Angeles', '2026-11-24T12:00:00Z', '2026-11-27T12:00:00Z'), {
    step: 12 * HOUR,
    times: ['2026-11-24T20', '2026-11-25T08', '2026-11-25T20', '2026-11-26T08', '2026-11-26T20', '2026-11-27T08'].map(
      (hour) => `${hour}:00:00.000Z`,
    ),
  });
  const { times, step } = list('America/Los_Angeles', '2026-11-22T00:00:00Z', '2026-11-29T00:00:00Z');
  assert.equal(step, DAY);
  assert.deepEqual(
    times,
    [22, 23, 24, 25, 26, 27, 28].map((day) => `2026-11-${day}T08:00:00.000Z`),
  );
});

test('hours are round in a time zone of half an hour', () => {
  const { times, step } = list('Asia/Kolkata', '2026-11-28T00:00:00Z', '2026-11-29T00:00:00Z');
  assert.equal(step, 6 * HOUR);
  assert.deepEqual(
    times,
    ['T00:30', 'T06:30', 'T12:30', 'T18:30'].map((hour) => `2026-11-28${hour}:00.000Z`),
  );
});

test('days of a change of the clock have 23 and 25 hours', () => {
  const spring = list('Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z').times;
  assert.deepEqual(
    spring.filter((time) => time >= '2026-03-28T20' && time <= '2026-03-30T00').map((time) => time.slice(5, 13)),
    ['03-28T23', '03-29T10', '03-29T22'],
  );
  const autumn = list('Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-26T12:00:00Z').times;
  assert.deepEqual(
    autumn.filter((time) => time >= '2026-10-24T20' && time <= '2026-10-26T00').map((time) => time.slice(5, 13)),
    ['10-24T22', '10-25T11', '10-25T23'],
  );
});

test('an hour that the clock leaves out or repeats is marked once', () => {
  assert.deepEqual(list('Europe/Berlin', '2026-03-29T00:00:00Z', '2026-03-29T04:00:00Z'), {
    step: HOUR,
    times: [0, 1, 2, 3, 4].map((hour) => `2026-03-29T0${hour}:00:00.000Z`),
  });
  assert.deepEqual(list('Europe/Berlin', '2026-10-24T23:00:00Z', '2026-10-25T03:00:00Z').times, [
    ...['2026-10-24T23:00:00.000Z', '2026-10-25T00:00:00.000Z'],
    ...['2026-10-25T02:00:00.000Z', '2026-10-25T03:00:00.000Z'],
  ]);
});

test('a range has at most eight marks, all within it', () => {
  for (const hours of [0.1, 0.5, 1, 3, 6, 24, 100, 24 * 30, 24 * 400]) {
    const to = seconds('2026-11-28T12:07:30Z');
    const { times } = listRoundTimes(to - hours * HOUR, to, 7);
    assert.ok(times.length >= 1 && times.length <= 8, `${hours} hours: ${times.length} marks`);
    assert.ok(times.every((time) => time >= to - hours * HOUR && time <= to));
  }
});
