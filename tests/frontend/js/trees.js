/** Handwritten and random trees for tests, in the wire format. */

/**
 * @param {[number, string, number][]} rows depth, name, self
 * @param {object} [more]
 */
export function wireOf(rows, more = {}) {
  const names = [...new Set(rows.map(([, name]) => name))];
  return {
    v: 1,
    service: 'example',
    type: 'CPU',
    metric: { name: 'cpu', unit: 'nanoseconds' },
    profiles: 1,
    names,
    files: ['example.py'],
    depth: rows.map(([depth]) => depth),
    frames: { name: names.map((_, i) => i), file: names.map(() => 0) },
    frame: rows.map(([, name]) => names.indexOf(name)),
    self: rows.map(([, , self]) => self),
    root: null,
    folded: { at: [], count: [], total: [] },
    ...more,
  };
}

/** main 9 (self 2) → foo1 4 (self 1.5) → bar 2.5; main → foo2 3 (self 0.5) → bar 2.5. */
export function example() {
  return wireOf([
    [0, 'main', 200],
    [1, 'foo1', 150],
    [2, 'bar', 250],
    [1, 'foo2', 50],
    [2, 'bar', 250],
  ]);
}

/** Return random rows in pre-order. @param {number} n @param {number} deepest @param {number} seed */
export function randomRows(n, deepest, seed) {
  let state = seed;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  /** @type {[number, string, number][]} */
  const rows = [];
  let depth = 0;
  for (let i = 0; i < n; i++) {
    rows.push([depth, `function${Math.floor(random() * 500)}`, random() < 0.4 ? 0 : Math.floor(random() ** 4 * 1e6)]);
    depth = Math.min(deepest - 1, Math.floor(random() * (depth + 1.9)));
  }
  return rows;
}
