import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { nameInPackage, packageOf } from '../../../../../frontend/static/flame-graph/packages/packages.js';

// frontend/pages/embed/packages.py passes the same cases.
const CASES = JSON.parse(readFileSync(new URL('../../../pages/embed/packages.json', import.meta.url), 'utf8'));

for (const [name, file, kind, from] of CASES.packages) {
  test(`${name} in ${file || 'no file'} is ${kind}, ${from}`, () => {
    const { name: found, kind: ofKind } = packageOf(name, file);
    assert.deepEqual({ name: found, kind: ofKind }, { name: from, kind });
  });
}

test('packages of equal names differ in their paths', () => {
  const one = packageOf('github.com/a/logfmt.F', 'github.com/a/logfmt@v1.0.0/x.go');
  const other = packageOf('github.com/b/logfmt.F', 'github.com/b/logfmt@v1.0.0/x.go');
  assert.equal(one.name, other.name);
  assert.notEqual(one.path, other.path);
});

const SHORT = [
  ['github.com/aws/smithy-go/encoding/json.(*Decoder).Token', 'x.go', '(*Decoder).Token'],
  ['acme.dev/shop/pricing.(*Rule).Match.func1', '/src/shop/pricing/rule.go', '(*Rule).Match.func1'],
  ['acme.dev/shop.Map[github.com/x/y.T]', '/src/shop/map.go', 'Map[github.com/x/y.T]'],
  ['runtime.mallocgc', '', 'mallocgc'],
  ['java.util.concurrent.ThreadPoolExecutor$Worker.run', 'ThreadPoolExecutor.java', 'ThreadPoolExecutor$Worker.run'],
  ['Main.main', 'Main.java', 'Main.main'],
  ['discounts.apply', '/app/shop/pricing/discounts.py', 'discounts.apply'],
  ['handle', '/app/node_modules/express/lib/x.js', 'handle'],
  ['shop::pricing::quote', 'src/pricing.rs', 'shop::pricing::quote'],
];

for (const [name, file, short] of SHORT) {
  test(`${name} is ${short} in its package`, () => {
    assert.equal(nameInPackage(name, file), short);
  });
}
