/**
 * Legend of the graph: each package's share of the selection's self values, which views, zoom and
 * search do not change; or the colour scale of self or total.
 */

import { textOf } from '../shell/texts.js';
import { formatPercent, formatValue } from '../units.js';
import { mostSelf } from './colours.js';
import { packageColoursOf } from './package-colours.js';
import { filled, harmless } from './text.js';

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./colours.js").ColourBy} ColourBy */

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
  const colours = packageColoursOf(tree);
  const { shares, total } = colours;
  const first = 'all' in list.dataset ? shares : shares.filter(({ packaged }) => colours.isDistinct(packaged));
  const named = namesOf(shares);
  const items = [];
  for (const kind of /** @type {const} */ (['own', 'library', 'stdlib', 'native'])) {
    const mine = first.filter(({ packaged }) => packaged.kind === kind);
    const heading = mine.some(({ packaged }) => packaged.name !== kind) ? list.dataset[kind] : '';
    if (heading) items.push(item(heading, 'grp'));
    for (const { packaged, self } of mine) {
      items.push(packageItem(colours.classOf(packaged), named(packaged), formatPercent(self, total)));
    }
  }
  const others = shares.filter(({ packaged }) => !colours.isDistinct(packaged)).length;
  if (others) items.push(moreItem(list, tree, others));
  if (list.dataset.scope) items.push(item(list.dataset.scope, 'grp'));
  return items;
}

/**
 * Return a function that names packages, by their whole path if another one has the same name.
 * @param {import("./packaged.js").Share[]} shares
 */
function namesOf(shares) {
  /** @type {Map<string, Set<string>>} */
  const paths = new Map();
  for (const { packaged } of shares)
    paths.set(packaged.name, (paths.get(packaged.name) ?? new Set()).add(packaged.path));
  return (/** @type {import("./packages.js").Package} */ { name, path, kind }) => {
    if (name === 'native' && kind === 'native') return textOf('native', 'Native code');
    if (name === 'stdlib' && kind === 'stdlib') return textOf('stdlib', 'Standard library');
    return harmless((paths.get(name)?.size ?? 0) > 1 ? path : name);
  };
}

/** @param {string} colour CSS class @param {string} text @param {string} share */
function packageItem(colour, text, share) {
  const entry = item('', '');
  const swatch = document.createElement('i');
  swatch.className = `sw ${colour}`;
  const name = document.createElement('b');
  name.textContent = text;
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
