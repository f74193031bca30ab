import assert from 'node:assert/strict';
import test from 'node:test';

import { nameInPackage, packageOf } from '../../../frontend/static/flame-graph/packages.js';

const CASES = [
  // Python
  ['Rule.matches', '/app/shop/pricing/discounts.py', 'own', 'shop.pricing'],
  ['bar', '/home/mara/examples/proportions.py', 'own', 'examples'],
  ['main', '/home/dev/loop.py', 'own', 'loop'],
  ['main', 'loop.py', 'own', 'loop'],
  ['handle', 'C:\\work\\shop\\views.py', 'own', 'shop'],
  ['Thread.run', 'C:\\Python311\\Lib\\threading.py', 'stdlib', 'stdlib'],
  ['QuerySet.get', '/srv/.venv/lib/python3.11/site-packages/django/db/models/query.py', 'library', 'django'],
  ['parse', '/usr/lib/python3/dist-packages/six.py', 'library', 'six'],
  ['Thread.run', '/usr/lib/python3.11/threading.py', 'stdlib', 'stdlib'],
  ['Thread.run', '/home/dev/.pyenv/versions/3.13.0/lib/python3.13/threading.py', 'stdlib', 'stdlib'],
  ['_find_and_load', '<frozen importlib._bootstrap>', 'stdlib', 'stdlib'],
  ['Client.get', '/usr/lib/python3/site-packages/google/cloud/storage/client.py', 'library', 'google.cloud.storage'],
  ['dot', '/x/site-packages/numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so', 'library', 'numpy'],
  ['dgemm', '/x/site-packages/numpy.libs/libopenblas64_p-r0.so', 'library', 'numpy'],
  ['ffi', '/x/site-packages/_cffi_backend.cpython-311-x86_64-linux-gnu.so', 'library', '_cffi_backend'],
  ['<module>', '<string>', 'native', 'native'],
  // Go
  ['main.main', '/src/shop/main.go', 'own', 'main'],
  ['acme.dev/shop/pricing.(*Rule).Match', '/src/shop/pricing/rule.go', 'own', 'shop/pricing'],
  ['shop/pricing.(*Rule).Match', 'shop/pricing/rule.go', 'own', 'shop/pricing'],
  ['github.com/lib/pq.(*conn).query', '/home/dev/go/pkg/mod/github.com/lib/pq@v1.10.9/conn.go', 'library', 'pq'],
  ['github.com/lib/pq.(*conn).query', 'github.com/lib/pq@v1.10.9/conn.go', 'library', 'pq'],
  ['github.com/lib/pq.(*conn).query', '/src/shop/vendor/github.com/lib/pq/conn.go', 'library', 'pq'],
  ['github.com/aws/smithy-go.(*Decoder).Token', 'github.com/aws/smithy-go@v1.20.1/decode.go', 'library', 'smithy-go'],
  [
    'github.com/aws/smithy-go/encoding/json.(*Decoder).Token',
    'github.com/aws/smithy-go@v1.20.1/encoding/json/decode.go',
    'library',
    'smithy-go/encoding/json',
  ],
  ['github.com/cespare/xxhash/v2.Sum64', 'github.com/cespare/xxhash/v2@v2.2.0/xxhash.go', 'library', 'xxhash'],
  ['gopkg.in/yaml%2ev3.(*parser).parse', '/go/pkg/mod/gopkg.in/yaml.v3@v3.0.1/decode.go', 'library', 'yaml.v3'],
  [
    'github.com/json-iterator/go.(*Iterator).Skip',
    'github.com/json-iterator/go@v1.1.10/x.go',
    'library',
    'json-iterator/go',
  ],
  ['golang.org/x/net/http2.(*Framer).ReadFrame', 'golang.org/x/net@v0.2.0/http2/frame.go', 'library', 'x/net/http2'],
  ['k8s.io/client-go/rest.F', '/go/pkg/mod/k8s.io/client-go@v0.19.2/rest/x.go', 'library', 'client-go/rest'],
  ['net/http.(*conn).serve', '/usr/local/go/src/net/http/server.go', 'stdlib', 'net/http'],
  ['net/http.(*conn).serve', 'net/http/server.go', 'stdlib', 'net/http'],
  ['net/http.(*conn).serve', '', 'stdlib', 'net/http'],
  ['runtime.mallocgc', '/usr/local/go/src/runtime/malloc.go', 'stdlib', 'runtime'],
  ['runtime.mallocgc', '', 'stdlib', 'runtime'],
  ['runtime.memmove', '/usr/local/go/src/runtime/memmove_amd64.s', 'stdlib', 'runtime'],
  ['internal/runtime/maps.(*Map).Get', '/usr/local/go/src/internal/runtime/maps/map.go', 'stdlib', 'runtime'],
  ['reflect.mapassign', '/usr/local/go/src/runtime/map.go', 'stdlib', 'runtime'],
  ['slices.SortFunc[go.shape.[]uint8,go.shape.string]', '/usr/local/go/src/slices/sort.go', 'stdlib', 'slices'],
  ['acme.dev/shop.Map[github.com/x/y.T]', '/src/shop/map.go', 'own', 'shop'],
  // Node.js
  ['handle', '/app/node_modules/express/lib/router/index.js', 'library', 'express'],
  ['run', '/app/node_modules/a/node_modules/@acme/b/x.js', 'library', '@acme/b'],
  ['handle', '/app/node_modules/.pnpm/express@4.18.2/node_modules/express/lib/x.js', 'library', 'express'],
  ['hash', '/app/node_modules/bcrypt/lib/binding/bcrypt_lib.node', 'library', 'bcrypt'],
  ['readFileSync', 'node:fs', 'stdlib', 'stdlib'],
  ['checkout', 'file:///app/shop/orders/place.mjs', 'own', 'shop.orders'],
  ['checkout', '/app/shop/orders/place.mjs', 'own', 'shop.orders'],
  ['(garbage collector)', '', 'native', 'native'],
  // Java
  ['com.acme.shop.pricing.Rule.matches', 'Rule.java', 'own', 'com.acme.shop.pricing'],
  [
    'org.springframework.web.servlet.DispatcherServlet.doDispatch',
    'DispatcherServlet.java',
    'library',
    'org.springframework.web.servlet',
  ],
  ['java.util.HashMap.get', 'HashMap.java', 'stdlib', 'java.util'],
  ['java.lang.Thread.run', '', 'stdlib', 'java.lang'],
  // Rust, native
  ['shop::pricing::quote', 'src/pricing.rs', 'own', 'shop'],
  ['<core::slice::Iter<T> as Iterator>::next', '/rustc/abc/library/core/src/slice/iter.rs', 'stdlib', 'stdlib'],
  ['serde::de', '/home/dev/.cargo/registry/src/index-1/serde-1.0.9/src/de.rs', 'library', 'serde'],
  ['libc.so.6+0x29d90', '', 'native', 'native'],
  ['memcpy', '', 'native', 'native'],
  ['do_syscall_64', '[kernel.kallsyms]', 'native', 'native'],
  ['main', '/usr/bin/python3.11', 'native', 'native'],
  ['render', '/app/shop/views/cart.rb', 'own', 'shop.views'],
  ['_PyEval_EvalFrameDefault', 'Python/ceval.c', 'native', 'native'],
];

for (const [name, file, kind, from] of CASES) {
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
