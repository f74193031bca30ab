import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import {
  PACKAGE_TOKENS,
  PackageColours,
  packageColoursOf,
} from '../../../../../frontend/static/flame-graph/packages/package-colours.js';
import { packageOf } from '../../../../../frontend/static/flame-graph/packages/packages.js';
import { withoutRecursion } from '../../../../../frontend/static/flame-graph/tree/recursion.js';
import { readTree } from '../../../../../frontend/static/flame-graph/tree/tree.js';
import { wireOf } from '../../trees.js';

/** @param {[string, string, number, number?][]} rows name, file, self, total */
const functionsOf = (rows) => ({
  names: rows.map(([name]) => name),
  files: rows.map(([, file]) => file),
  name: rows.map((_, i) => i),
  file: rows.map((_, i) => i),
  self: rows.map(([, , self]) => self),
  total: rows.map(([, , self, total]) => total ?? self),
});

const library = (/** @type {string} */ name) => `/x/site-packages/${name}/y.py`;
const own = (/** @type {string} */ name) => `/app/${name}/y.py`;
const LETTERS = [...'abcdefghijkl'];

// frontend/pages/embed/package_colours.py passes the same cases.
const CASES = JSON.parse(readFileSync(new URL('../../../pages/embed/packages.json', import.meta.url), 'utf8'));

for (const { name, functions } of CASES.selections) {
  test(name, () => {
    const colours = new PackageColours(functionsOf(functions));
    const tokens = functions.map(([name, file]) => PACKAGE_TOKENS[colours.slotOf(packageOf(name, file))]);
    assert.deepEqual(
      tokens,
      functions.map(([, , , , token]) => token),
    );
  });
}

test('the shares are the self values of each package, largest first', () => {
  const { shares, total } = new PackageColours(
    functionsOf([
      ['main', own('shop'), 2],
      ['get', library('django'), 5],
      ['apply', own('shop'), 1],
      ['idle', library('celery'), 0, 0],
    ]),
  );
  assert.deepEqual(
    shares.map(({ packaged, self }) => [packaged.name, packaged.kind, self]),
    [
      ['django', 'library', 5],
      ['shop', 'own', 3],
    ],
  );
  assert.equal(total, 8);
});

test('the heaviest packages have colours of their own, all others share one of their kind', () => {
  const rows = LETTERS.flatMap((letter, i) => [
    ['f', own(`own_${letter}`), 100 - i],
    ['f', library(`lib_${letter}`), 100 - i],
  ]);
  const colours = new PackageColours(functionsOf(rows));
  for (const [kind, file, count] of [
    ['own', (letter) => own(`own_${letter}`), 4],
    ['lib', (letter) => library(`lib_${letter}`), 8],
  ]) {
    const tokens = LETTERS.map((letter) => PACKAGE_TOKENS[colours.slotOf(packageOf('f', file(letter)))]);
    assert.equal(new Set(tokens.slice(0, count)).size, count);
    assert.deepEqual(new Set(tokens.slice(count)), new Set([`${kind}-rest`]));
    assert.ok(tokens.every((token) => token.startsWith(kind)));
  }
});

test('a package has a colour of its own also for the size of its frames', () => {
  const rows = LETTERS.map((letter, i) => ['f', library(`lib_${letter}`), 100 - i]);
  const colours = new PackageColours(functionsOf([...rows, ['serve', library('grpc'), 0, 900]]));
  assert.ok(colours.isDistinct(packageOf('f', library('lib_a'))));
  assert.ok(colours.isDistinct(packageOf('serve', library('grpc'))));
  assert.ok(!colours.isDistinct(packageOf('f', library('lib_l'))));
});

test('native and unknown code is grey, the standard library has colours of libraries', () => {
  const colours = new PackageColours(
    functionsOf([
      ['memcpy', '', 9],
      ['runtime.mallocgc', '', 9],
    ]),
  );
  assert.equal(PACKAGE_TOKENS[colours.slotOf(packageOf('memcpy', '/usr/lib/libc.so.6'))], 'native');
  assert.equal(PACKAGE_TOKENS[colours.slotOf(packageOf('memcpy', ''))], 'unknown');
  assert.match(PACKAGE_TOKENS[colours.slotOf(packageOf('runtime.mallocgc', ''))], /^lib-\d$/);
});

test('a package keeps its colour when its rank changes', () => {
  const rows = (/** @type {number[]} */ values) => values.map((self, i) => ['f', library(`lib_${LETTERS[i]}`), self]);
  const tokens = (/** @type {number[]} */ values) => {
    const colours = new PackageColours(functionsOf(rows(values)));
    return values.map((_, i) => colours.slotOf(packageOf('f', library(`lib_${LETTERS[i]}`))));
  };
  assert.deepEqual(tokens([5, 4, 3, 2, 1]), tokens([1, 2, 3, 4, 5]));
});

test('colours and shares are those of the selection, whatever part of it the tree has', () => {
  const functions = functionsOf([
    ['a', library('lib_a'), 50],
    ['b', library('lib_b'), 30],
  ]);
  const more = { files: [library('lib_b')], functions };
  const tree = readTree(wireOf([[0, 'b', 30]], more));
  assert.equal(packageColoursOf(tree).total, 80);
  assert.equal(packageColoursOf(withoutRecursion(tree)), packageColoursOf(tree));
  assert.equal(packageColoursOf(readTree(wireOf([[0, 'b', 30]], more))), packageColoursOf(tree));
});

test('without a list of functions they are those of the tree', () => {
  const wire = wireOf(
    [
      [0, 'main', 2],
      [1, 'get', 5],
      [1, 'apply', 1],
    ],
    { files: [own('shop'), library('django')], frames: { name: [0, 1, 2], file: [0, 1, 0] } },
  );
  const sums = packageColoursOf(readTree(wire)).shares.map(({ packaged, self }) => [packaged.name, self]);
  assert.deepEqual(sums, [
    ['django', 5],
    ['shop', 3],
  ]);
});
