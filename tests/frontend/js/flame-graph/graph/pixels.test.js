import assert from 'node:assert/strict';
import test from 'node:test';

import { readPixel } from '../../../../../frontend/static/flame-graph/graph/pixels.js';

const bytes = (/** @type {string} */ css) => [...new Uint8Array(new Uint32Array([readPixel(css)]).buffer)];

test("a colour is an image's four bytes, opaque", () => {
  assert.deepEqual(bytes('rgb(10, 106, 101)'), [10, 106, 101, 255]);
  assert.deepEqual(bytes('rgb(255 255 255)'), [255, 255, 255, 255]);
});
