import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { sourceLink } from '../../../../../frontend/static/flame-graph/graph/source.js';

const { links } = JSON.parse(
  readFileSync(new URL('../../../components/functions/source_links.json', import.meta.url), 'utf8'),
);
const others = { version: 'v/2.31.0', project: 'acme-shop' };

test('links are those of the server', () => {
  for (const [pattern, prefix, file, line, expected] of links) {
    assert.equal(sourceLink(pattern, prefix, { file, line }, others), expected, file);
  }
});
