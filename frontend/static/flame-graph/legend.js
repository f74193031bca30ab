/** Legend of the graph: each package's share of self time, or the colour scale of self or total. */

import { textOf } from '../shell/texts.js';
import { formatPercent, formatValue } from '../units.js';
import { mostSelf } from './colours.js';
import { packagesBySelf } from './packaged.js';
import { PACKAGE_TOKENS, slotOf } from './packages.js';
import { filled, harmless } from './text.js';

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./colours.js").ColourBy} ColourBy */

const SHOWN = 11; // packages listed until all are requested

/**
 * @param {HTMLElement} list with the texts in its data attributes
 * @param {Tree} tree
 * @param {ColourBy} by
 */
export function showLegend(list, tree, by) {
  list.replaceChildren(...(by === 'package' ? packageItems(list, tree) : heatItems(list, tree, by)));
}

/** @param {HTMLElement} list @param {Tree} tree */
function packageItems(list, tree) {
  const sums = packagesBySelf(tree);
  const first = new Set('all' in list.dataset ? sums : sums.slice(0, SHOWN));
  const items = [];
  for (const kind of /** @type {const} */ (['own', 'library', 'native'])) {
    const mine = sums.filter((entry) => entry.packaged.kind === kind && first.has(entry));
    const heading = list.dataset[kind];
    if (mine.length && heading) items.push(item(heading, 'grp'));
    for (const { packaged, self } of mine) items.push(packageItem(packaged, formatPercent(self, tree.total[0])));
  }
  if (sums.length > SHOWN) items.push(moreItem(list, tree, sums.length - SHOWN));
  return items;
}

/** @param {import("./packages.js").Package} packaged @param {string} share */
function packageItem(packaged, share) {
  const entry = item('', '');
  const swatch = document.createElement('i');
  swatch.className = `sw p-${PACKAGE_TOKENS[slotOf(packaged)].replace('-', '')}`;
  const name = document.createElement('b');
  name.textContent =
    packaged.kind === 'native' && packaged.name === 'native'
      ? textOf('native', 'Native code')
      : harmless(packaged.name);
  entry.append(swatch, name, share);
  return entry;
}

/** @param {HTMLElement} list @param {Tree} tree @param {number} others */
function moreItem(list, tree, others) {
  const button = document.createElement('button');
  button.type = 'button';
  const all = 'all' in list.dataset;
  button.textContent = all ? (list.dataset.less ?? '') : filled(list.dataset.more ?? '', { n: String(others) });
  button.addEventListener('click', () => {
    if (all) delete list.dataset.all;
    else list.dataset.all = '';
    showLegend(list, tree, 'package');
    list.querySelector('button')?.focus();
  });
  const entry = item('', 'grp');
  entry.append(button);
  return entry;
}

/** @param {HTMLElement} list @param {Tree} tree @param {"self" | "total"} by */
function heatItems(list, tree, by) {
  const most = (by === 'self' ? mostSelf(tree) : tree.total[0]) / tree.profiles;
  const ramp = document.createElement('span');
  ramp.className = 'keys-h';
  for (let step = 0; step <= 5; step++) {
    const box = document.createElement('i');
    box.className = `i${step}`;
    ramp.append(box);
  }
  const entry = item('', '');
  entry.append(ramp);
  return [item('0', ''), entry, item(filled(list.dataset[by] ?? '', { most: formatValue(most, tree.unit) }), '')];
}

/** @param {string} text @param {string} name CSS class */
function item(text, name) {
  const entry = document.createElement('li');
  if (name) entry.className = name;
  entry.textContent = text;
  return entry;
}
