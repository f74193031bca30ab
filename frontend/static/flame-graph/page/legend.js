/**
 * Legend of the graph: each package's share of the selection's self values, which views, zoom and
 * search do not change; or the colour scale of self or total.
 */

import { getText } from '../../shell/texts.js';
import { formatCount, formatPercent, formatValue } from '../../units.js';
import { findLargestSelf } from '../packages/colours.js';
import { insertValues, markInvisible } from '../../text.js';

/** @typedef {import("../tree/tree.js").Tree} Tree */
/** @typedef {import("../tree/tree.js").Package} Package */
/** @typedef {import("../packages/colours.js").ColourBy} ColourBy */

const LEAD = 6; // colours that are looked for first, by self value and by area in turn

/**
 * @param {HTMLElement} list one line: what does not fit is in the menu
 * @param {HTMLElement | null} menu with all packages
 * @param {Tree} tree
 * @param {ColourBy} by
 */
export function showLegend(list, menu, tree, by) {
  const packages = by === 'package' ? buildColourItems(list, tree) : [];
  list.replaceChildren(...(by === 'package' ? packages : buildHeatItems(list, tree, by)));
  if (menu) showMenu(menu, by === 'package' ? buildPackageItems(list, tree) : []);
}

/** @param {HTMLElement} menu @param {HTMLElement[]} items */
function showMenu(menu, items) {
  menu.hidden = !items.length;
  const summary = menu.querySelector('summary');
  const words = items.length === 1 ? menu.dataset.one : menu.dataset.all;
  if (summary) summary.textContent = insertValues(words ?? '', { n: formatCount(items.length) });
  menu.querySelector('ul')?.replaceChildren(...items);
}

/**
 * Return an entry for each colour of the graph; packages that share a colour are one entry. The first ones
 * are what is seen, by share: the colours with the largest self values, which top a bottom-up graph, and those
 * of the largest area in a flame graph. The others follow.
 * @param {HTMLElement} list
 * @param {Tree} tree
 */
function buildColourItems(list, tree) {
  const shares = listShares(tree);
  const total = sumSelf(shares);
  const named = createPackageNamer(list, shares);
  /** @type {Map<string, {name: string, self: number, area: number}>} */
  const byColour = new Map();
  for (const share of shares) {
    const { colour, kind, self, area } = share;
    const isShared = colour.endsWith('-rest');
    const name = isShared ? (list.dataset[kind === 'own' ? 'own' : 'library'] ?? '') : named(share);
    const entry = byColour.get(colour) ?? { name, self: 0, area: 0 };
    byColour.set(colour, { name, self: entry.self + self, area: entry.area + area });
  }
  const bySelf = [...byColour].sort(([, a], [, b]) => b.self - a.self || b.area - a.area);
  const byArea = [...bySelf].sort(([, a], [, b]) => b.area - a.area);
  const lead = new Set([...new Set(bySelf.flatMap((entry, i) => [entry, byArea[i]]))].slice(0, LEAD));
  return [...bySelf.filter((entry) => lead.has(entry)), ...bySelf.filter((entry) => !lead.has(entry))].map(
    ([colour, { name, self }]) => buildPackageItem(colour, name, formatPercent(self, total)),
  );
}

/** Return an entry for each package. @param {HTMLElement} list @param {Tree} tree */
function buildPackageItems(list, tree) {
  const shares = listShares(tree);
  const total = sumSelf(shares);
  const named = createPackageNamer(list, shares);
  return shares.map((share) => buildPackageItem(share.colour, named(share), formatPercent(share.self, total)));
}

/** Return the packages that have a share of the selection, largest self value first. @param {Tree} tree */
function listShares({ packages }) {
  return packages.filter(({ area }) => area > 0);
}

/** @param {Package[]} packages */
function sumSelf(packages) {
  return packages.reduce((sum, { self }) => sum + self, 0);
}

/**
 * Return a function that names packages, by their whole path if another one has the same name.
 * @param {HTMLElement} list
 * @param {Package[]} shares
 */
function createPackageNamer(list, shares) {
  /** @type {Map<string, Set<string>>} */
  const paths = new Map();
  for (const { name, path } of shares) paths.set(name, (paths.get(name) ?? new Set()).add(path));
  return (/** @type {Package} */ { name, path, kind }) => {
    if (name === 'native' && kind === 'native') return getText('native', 'Native code');
    if (kind === 'unknown') return list.dataset.unknown ?? '';
    if (name === 'stdlib' && kind === 'stdlib') return getText('stdlib', 'Standard library');
    return markInvisible((paths.get(name)?.size ?? 0) > 1 ? path : name);
  };
}

/** @param {string} colour one of PACKAGE_TOKENS @param {string} text @param {string} share */
function buildPackageItem(colour, text, share) {
  const entry = buildItem('', '');
  const swatch = document.createElement('i');
  swatch.className = `sw p-${colour.replace('-', '')}`;
  const name = document.createElement('b');
  name.textContent = text;
  entry.append(swatch, name, share);
  return entry;
}

/** @param {HTMLElement} list @param {Tree} tree @param {"self" | "total"} by */
function buildHeatItems(list, tree, by) {
  const most = (by === 'self' ? findLargestSelf(tree) : tree.total[0]) / tree.profiles;
  const ramp = document.createElement('span');
  ramp.className = 'keys-h';
  for (let step = 0; step <= 5; step++) {
    const box = document.createElement('i');
    box.className = `i${step}`;
    ramp.append(box);
  }
  const entry = buildItem('', '');
  entry.append(ramp);
  return [
    buildItem('0', ''),
    entry,
    buildItem(insertValues(list.dataset[by] ?? '', { most: formatValue(most, tree.unit) }), ''),
  ];
}

/** @param {string} text @param {string} name CSS class */
function buildItem(text, name) {
  const entry = document.createElement('li');
  if (name) entry.className = name;
  entry.textContent = text;
  return entry;
}
