'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { gunzipSync } = require('node:zlib');
const { Backoff } = require('../lib/backoff');
const { heapProfile, timeProfile } = require('../lib/capture');
const { read } = require('../lib/config');
const { readAssignment, readError } = require('../lib/messages');
const flamewatch = require('..');

const MINIMAL = {
  FLAMEWATCH_URL: 'https://profiles.example.org/',
  FLAMEWATCH_KEY: 'fw_secret_of_the_test',
  FLAMEWATCH_SERVICE: 'shop',
};

test('settings come from arguments and the environment', () => {
  const { config, problems } = read({ service: 'checkout', zone: ' eu-1 ' }, MINIMAL);
  assert.deepEqual(problems, []);
  assert.equal(config.service, 'checkout');
  assert.equal(config.zone, 'eu-1');
  assert.equal(config.url, 'https://profiles.example.org');
  assert.deepEqual(config.types, ['CPU', 'WALL', 'HEAP']);
});

test('service names of other tools are changed', () => {
  const env = { ...MINIMAL, FLAMEWATCH_SERVICE: '', OTEL_SERVICE_NAME: 'Check Out!' };
  assert.equal(read({}, env).config.service, 'check-out');
});

test('problems name the setting and never the key', () => {
  const settings = { service: 'Shop', key: 'bad key', url: 'ftp://user:password@host', version: 'a\nb' };
  const text = read(settings, { FLAMEWATCH_TYPES: 'HEAP,HEAP_ALLOC' }).problems.join('; ');
  for (const part of ['FLAMEWATCH_KEY', 'FLAMEWATCH_URL', 'for example "shop"', 'version', 'exclude']) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
  assert.ok(!text.includes('bad key') && !text.includes('password'));
});

test('an invalid configuration is logged once and harmless', async () => {
  /** @type {string[]} */
  const lines = [];
  flamewatch.start({ url: '', key: '', log: (line) => lines.push(line) });
  await flamewatch.stop();
  assert.equal(lines.length, 1);
  assert.match(lines[0], /FLAMEWATCH_KEY/);
});

test("pauses grow, and the server's delay is honoured", () => {
  const backoff = new Backoff(() => 1);
  assert.deepEqual([backoff.next(), backoff.next()], [60, 78]);
  assert.equal(Math.round(backoff.next(10)), 11);
  for (let i = 0; i < 200; i++) backoff.next();
  assert.equal(backoff.next(), 3600);
  backoff.succeed();
  assert.equal(backoff.nextLong(10), 60);
});

test('responses are checked', () => {
  const valid = { name: 'projects/acme/profiles/p1', profileType: 'CPU', duration: '10s' };
  const assignment = readAssignment(JSON.stringify(valid), ['CPU']);
  assert.deepEqual(assignment, { name: valid.name, type: 'CPU', duration: 10 });
  for (const change of [{ name: '../x' }, { profileType: 'HEAP' }, { duration: '10' }, { duration: '1000s' }]) {
    assert.throws(() => readAssignment(JSON.stringify({ ...valid, ...change }), ['CPU']));
  }
  assert.throws(() => readAssignment('<html>', ['CPU']));
});

test("errors carry the server's delay", () => {
  const body = '{"error":{"message":"a\\nb","details":[{"@type":"x"},{"retryDelay":"1.5s"}]}}';
  const error = readError(409, body, '7');
  assert.deepEqual([error.message, error.retryAfter], ['409 a b', 1.5]);
  assert.equal(readError(503, '<html>', '7').retryAfter, 7);
  assert.equal(readError(500, '', undefined).retryAfter, null);
});

const frame = (/** @type {string} */ functionName) => ({
  callFrame: { functionName, url: 'file:///app/shop.js', lineNumber: 4 },
});

test('CPU profiles leave out idle time, WALL profiles have it', () => {
  const recorded = {
    nodes: [
      { id: 1, ...frame('(root)'), children: [2, 3] },
      { id: 2, ...frame('(idle)') },
      { id: 3, ...frame('work'), children: [4] },
      { id: 4, ...frame('') },
    ],
    samples: [2, 3, 4, 4],
    startTime: 0,
    endTime: 40_000,
    timeDeltas: [0, 9_000, 11_000, 10_000],
  };
  const values = (/** @type {"CPU" | "WALL"} */ type, /** @type {number | null} */ cpuNs = null) =>
    [...timeProfile(recorded, type, cpuNs).profile.samples.values()].map((sample) => sample.values);
  assert.deepEqual(values('WALL'), [
    [1, 9_000_000],
    [1, 11_000_000],
    [2, 20_000_000],
  ]);
  assert.deepEqual(values('CPU'), [
    [1, 11_000_000],
    [2, 20_000_000],
  ]);
  // Half of the time the thread waited for a core.
  assert.deepEqual(values('CPU', 15_500_000), [
    [1, 5_500_000],
    [2, 10_000_000],
  ]);
  assert.deepEqual(values('WALL', 15_500_000), values('WALL'));
});

test('profiles name functions, files and lines', () => {
  const head = { ...frame('(root)'), selfSize: 0, children: [{ ...frame('load'), selfSize: 512, children: [] }] };
  const encoded = heapProfile(head, 'inuse_space').encode({ startMs: 1, durationNs: 0, comments: [] });
  const raw = gunzipSync(encoded).toString('latin1');
  for (const text of ['load', '/app/shop.js', 'inuse_space', 'bytes']) assert.ok(raw.includes(text));
});
