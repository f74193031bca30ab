/** Colour swatches and short names in the function list, by package as in the graph. */

import { loadFunctions } from '../tree/load.js';
import { PackageColours, packageColoursOf } from '../packages/package-colours.js';
import { packageOf } from '../packages/packages.js';
import { splitName } from '../packages/labels.js';

// rows painted per animation frame, so that a list of thousands does not block the page
const GROUP = 400;

/** @type {PackageColours | null} of the selection that the graph showed last */
let colours = null;
let loading = new AbortController();

/** @param {ParentNode} root */
export function paintSwatches(root) {
  const rows = [...root.querySelectorAll('.fn[data-name]')];
  const paint = () => {
    for (const row of rows.splice(0, GROUP)) if (row instanceof HTMLElement) paintOne(row);
    if (rows.length) requestAnimationFrame(paint);
  };
  paint();
}

/** Paint the list in the colours of a tree's selection. @param {import("../tree/tree.js").Tree} tree */
export function paintLike(tree) {
  colours = packageColoursOf(tree);
  paintSwatches(document);
}

/** Paint a list without a graph beside it: the colours need the selection's functions. */
export async function paintListAlone() {
  loading.abort();
  const source = document.querySelector('#functions')?.getAttribute('data-packages');
  if (!source || !document.querySelector('.work.only-list')) return;
  const { signal } = (loading = new AbortController());
  const functions = await loadFunctions(source, signal);
  if (signal.aborted || !functions) return;
  colours = new PackageColours(functions);
  paintSwatches(document);
}

/** @param {HTMLElement} row */
function paintOne(row) {
  const { name = '', file = '' } = row.dataset;
  const swatch = row.querySelector('.sw');
  if (swatch && colours) swatch.className = `sw ${colours.classOf(packageOf(name, file))}`;
  const split = splitName(name, file);
  const leaf = row.querySelector('.leaf');
  if (!split || !leaf) return;
  const front = row.querySelector('.mod') ?? frontBefore(leaf);
  if (front.textContent !== split.front) front.textContent = split.front;
  if (leaf.textContent !== split.leaf) leaf.textContent = split.leaf;
}

/** @param {Element} leaf */
function frontBefore(leaf) {
  const front = document.createElement('span');
  front.className = 'mod';
  leaf.before(front);
  return front;
}
