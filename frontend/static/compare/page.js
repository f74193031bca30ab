/** The comparison's page: fetches both sides once, draws them, and zooms every graph together. */

import { FlameDiff } from './diff_graph.js';
import { readDifferences } from './differences.js';

const PATIENCE_MS = 150;

/** @returns {FlameDiff[]} */
const graphs = () => [...document.querySelectorAll('flame-diff')].filter((one) => one instanceof FlameDiff);

/** @param {string} id */
function zoomAll(id) {
  for (const graph of graphs()) graph.setAttribute('frame', id);
}

document.addEventListener('diff-zoom', (event) => {
  const id = event instanceof CustomEvent ? event.detail.id : '';
  const url = new URL(location.href);
  if (id) url.searchParams.set('frame', id);
  else url.searchParams.delete('frame');
  history.pushState({}, '', url);
  zoomAll(id);
});

addEventListener('popstate', () => zoomAll(new URLSearchParams(location.search).get('frame') ?? ''));

/** @param {HTMLElement} work */
async function load(work) {
  const wait = document.getElementById('diff-wait');
  const slow = setTimeout(() => wait?.removeAttribute('hidden'), PATIENCE_MS);
  try {
    const answer = await fetch(work.dataset.src ?? '', { credentials: 'same-origin' });
    if (!answer.ok) return fail((await answer.json().catch(() => ({}))).error);
    const all = readDifferences(await answer.json());
    for (const graph of graphs()) graph.show(all);
  } catch (error) {
    fail('');
    console.warn(error);
  } finally {
    clearTimeout(slow);
    wait?.setAttribute('hidden', '');
  }
}

/** @param {unknown} sentence */
function fail(sentence) {
  const note = document.getElementById('diff-failed');
  const text = note?.querySelector('div');
  if (!note || !text) return;
  text.textContent = typeof sentence === 'string' && sentence ? sentence : (note.dataset.failed ?? '');
  note.hidden = false;
}

const work = document.querySelector('[data-src].work');
if (work instanceof HTMLElement) void load(work);
