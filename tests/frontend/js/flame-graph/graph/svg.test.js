import assert from 'node:assert/strict';
import test from 'node:test';

import { chooseColours, TOKENS } from '../../../../../frontend/static/flame-graph/packages/colours.js';
import { getLabel } from '../../../../../frontend/static/flame-graph/packages/labels.js';
import { groupRows } from '../../../../../frontend/static/flame-graph/tree/rows.js';
import { renderSvg } from '../../../../../frontend/static/flame-graph/graph/svg.js';
import { readTree } from '../../../../../frontend/static/flame-graph/tree/tree.js';
import { example, wireOf } from '../../trees.js';

const svg = (tree) => {
  const range = { from: 0, to: tree.total[0] };
  const drawn = {
    tree,
    rows: groupRows(tree),
    colours: chooseColours(tree, 'package'),
    range,
    found: null,
    label: (node) => getLabel(tree, node),
  };
  const colour = TOKENS.map(() => '#123456');
  return renderSvg(drawn, { fill: colour, ink: colour, hatch: '', font: '' }, 900, false);
};

test('every box has its exact position and its name', () => {
  const found = [
    ...svg(readTree(example())).matchAll(/<title>([^<]*)<\/title><rect x="([\d.]+)" y="(\d+)" width="([\d.]+)"/g),
  ];
  assert.deepEqual(
    found.map(([, name, x, y, width]) => [name, Number(x), Number(y), Number(width)]),
    [
      ['example', 0, 0, 899],
      ['main', 0, 20, 899],
      ['foo1', 0, 40, 399],
      ['foo2', 400, 40, 299],
      ['bar', 0, 60, 249],
      ['bar', 400, 60, 249],
    ],
  );
});

test('names with markup and control characters do no harm', () => {
  const picture = svg(readTree(wireOf([[0, '<script>alert("x")</script>&\u0007', 5]])));
  assert.ok(!picture.includes('<script'));
  assert.ok(!/[\u0000-\u0008]/.test(picture));
  assert.ok(picture.includes('&#60;script&#62;'));
});
