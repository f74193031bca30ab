import assert from 'node:assert/strict';
import test from 'node:test';

import { PACKAGE_TOKENS, packageOf, slotOf } from '../../../frontend/static/flame-graph/packages.js';

const CASES = [
  // Python
  ['Rule.matches', '/app/shop/pricing/discounts.py', 'own', 'shop.pricing'],
  ['bar', '/home/mara/examples/proportions.py', 'own', 'examples'],
  ['main', '/home/dev/loop.py', 'own', 'loop'],
  ['main', 'loop.py', 'own', 'loop'],
  ['handle', 'C:\\work\\shop\\views.py', 'own', 'shop'],
  ['Thread.run', 'C:\\Python311\\Lib\\threading.py', 'library', 'stdlib'],
  ['QuerySet.get', '/srv/.venv/lib/python3.11/site-packages/django/db/models/query.py', 'library', 'django'],
  ['parse', '/usr/lib/python3/dist-packages/six.py', 'library', 'six'],
  ['Thread.run', '/usr/lib/python3.11/threading.py', 'library', 'stdlib'],
  ['Thread.run', '/home/dev/.pyenv/versions/3.13.0/lib/python3.13/threading.py', 'library', 'stdlib'],
  ['_find_and_load', '<frozen importlib._bootstrap>', 'native', 'native'],
  ['<module>', '<string>', 'native', 'native'],
  // Go
  ['main.main', '/src/shop/main.go', 'own', 'main'],
  ['acme.dev/shop/pricing.(*Rule).Match', '/src/shop/pricing/rule.go', 'own', 'shop/pricing'],
  ['github.com/lib/pq.(*conn).query', '/home/dev/go/pkg/mod/github.com/lib/pq@v1.10.9/conn.go', 'library', 'lib/pq'],
  ['github.com/lib/pq.(*conn).query', 'github.com/lib/pq@v1.10.9/conn.go', 'library', 'lib/pq'],
  ['net/http.(*conn).serve', '/usr/local/go/src/net/http/server.go', 'library', 'stdlib'],
  ['net/http.(*conn).serve', 'net/http/server.go', 'library', 'stdlib'],
  ['runtime.mallocgc', '/usr/local/go/src/runtime/malloc.go', 'native', 'native'],
  // Node.js
  ['handle', '/app/node_modules/express/lib/router/index.js', 'library', 'express'],
  ['run', '/app/node_modules/a/node_modules/@acme/b/x.js', 'library', '@acme/b'],
  ['readFileSync', 'node:fs', 'library', 'stdlib'],
  ['checkout', '/app/shop/orders/place.mjs', 'own', 'shop.orders'],
  ['(garbage collector)', '', 'native', 'native'],
  // Java
  ['com.acme.shop.pricing.Rule.matches', 'Rule.java', 'own', 'com.acme.shop.pricing'],
  [
    'org.springframework.web.servlet.DispatcherServlet.doDispatch',
    'DispatcherServlet.java',
    'library',
    'org.springframework.web',
  ],
  ['java.util.HashMap.get', 'HashMap.java', 'library', 'stdlib'],
  ['java.lang.Thread.run', '', 'library', 'stdlib'],
  // Rust, native
  ['serde::de', '/home/dev/.cargo/registry/src/index-1/serde-1.0.9/src/de.rs', 'library', 'serde'],
  ['libc.so.6+0x29d90', '', 'native', 'native'],
  ['memcpy', '', 'native', 'native'],
  ['_PyEval_EvalFrameDefault', 'Python/ceval.c', 'native', 'native'],
];

for (const [name, file, kind, from] of CASES) {
  test(`${name} in ${file || 'no file'} is ${kind}, ${from}`, () => {
    assert.deepEqual({ ...packageOf(name, file) }, { name: from, kind });
  });
}

test("a package's colour is one of its kind", () => {
  for (const [name, file, kind] of CASES) {
    const token = PACKAGE_TOKENS[slotOf(packageOf(name, file))];
    assert.ok(token.startsWith({ own: 'own-', library: 'lib-', native: 'native' }[kind]));
  }
});

test('the most common libraries have colours of their own', () => {
  const names = ['stdlib', 'django', 'rest_framework', 'psycopg', 'redis', 'gunicorn', 'celery', 'numpy'];
  assert.equal(new Set(names.map((name) => slotOf({ name, kind: 'library' }))).size, 8);
});
