import assert from 'node:assert/strict';
import test from 'node:test';
import { addressOf } from '../../../frontend/static/shell/picking.js';

/** @param {[string, string][]} pairs */
function form(pairs) {
  const body = new FormData();
  for (const [name, value] of pairs) body.append(name, value);
  return body;
}

test('what says nothing is left out', () => {
  const body = form([['service', 'a b'], ['zone', ''], ['end', 'now'], ['at', '2026-11-20T10:00:00Z']]);
  assert.equal(addressOf('/p', body, ''), '/p?service=a+b');
});

test('a moment counts only where it is chosen', () => {
  const body = form([['end', 'at'], ['at', '2026-11-20T10:00:00Z']]);
  assert.equal(addressOf('/p', body, 'end'), '/p?end=at&at=2026-11-20T10%3A00%3A00Z');
});

test('another service has other zones, versions and metrics', () => {
  const body = form([['service', 'a'], ['zone', 'eu'], ['version', '1'], ['metric', 'cpu'], ['span', '1h']]);
  assert.equal(addressOf('/p', body, 'service'), '/p?service=a&span=1h');
  assert.equal(addressOf('/p', body, 'type'), '/p?service=a&zone=eu&version=1&span=1h');
});

test('the second side keeps what it says of itself, also that it is all', () => {
  const body = form([['version', ''], ['end', 'now'], ['b.version', ''], ['b.end', 'now'], ['b.at', '2026-11-20T10:00:00Z']]);
  assert.equal(addressOf('/p', body, 'b.end'), '/p?b.version=&b.end=now');
});

test('another service is another one for both sides', () => {
  const body = form([['service', 'a'], ['version', '1'], ['b.version', '2'], ['b.zone', 'eu'], ['b.end', 'at'], ['b.at', 'T']]);
  assert.equal(addressOf('/p', body, 'service'), '/p?service=a&b.end=at&b.at=T');
});
