/**
 * Sizes of a page's panes: the chart over time as a strip or in full, and the width of the list beside the
 * graph, by dragging [data-resize-list], by its arrow keys, or by Enter, which hides the list.
 *
 * They belong to the person, not to the URL: early.js applies the stored ones.
 */

const LEAST = 280; // px of a list that is shown
const MOST = 0.7; // of the window's width
const STEP = 24; // px of an arrow key

const root = document.documentElement;

/** @param {string} key @param {string} value */
function store(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    /* storage is unavailable: the size holds for this page only */
  }
}

/** @param {HTMLElement} splitter @returns {number} px */
function measureList(splitter) {
  return Math.round(splitter.nextElementSibling?.getBoundingClientRect().width ?? 0);
}

/** Tell the splitter's value: the list's share of the window's width. @param {HTMLElement} splitter */
function tell(splitter) {
  const isHidden = root.dataset.list === 'hidden';
  const percent = isHidden ? 0 : Math.round((100 * measureList(splitter)) / Math.max(1, innerWidth));
  splitter.setAttribute('aria-valuenow', String(percent));
}

/** @param {HTMLElement} splitter @param {number} width px */
function resize(splitter, width) {
  const fitting = Math.round(Math.min(innerWidth * MOST, Math.max(LEAST, width)));
  delete root.dataset.list;
  root.style.setProperty('--list-width', `${fitting}px`);
  store('list-width', String(fitting));
  tell(splitter);
}

/** Hide the list, or show it at the width that it had. @param {HTMLElement} splitter */
function toggleList(splitter) {
  if (root.dataset.list === 'hidden') {
    delete root.dataset.list;
    store('list-width', root.style.getPropertyValue('--list-width').replace('px', ''));
  } else {
    root.dataset.list = 'hidden';
    store('list-width', '0');
  }
  tell(splitter);
}

/** @param {EventTarget | null} target @returns {HTMLElement | null} */
function findSplitter(target) {
  const found = target instanceof Element ? target.closest('[data-resize-list]') : null;
  return found instanceof HTMLElement ? found : null;
}

/** @param {PointerEvent} event */
function drag(event) {
  const splitter = findSplitter(event.target);
  if (!splitter || event.button !== 0) return;
  event.preventDefault();
  splitter.focus();
  splitter.setPointerCapture(event.pointerId);
  const stop = new AbortController();
  const offset = (root.dataset.list === 'hidden' ? 0 : measureList(splitter)) + event.clientX;
  const { signal } = stop;
  splitter.addEventListener('pointermove', ({ clientX }) => resize(splitter, offset - clientX), { signal });
  for (const end of ['pointerup', 'pointercancel']) splitter.addEventListener(end, () => stop.abort(), { signal });
}

/** @param {KeyboardEvent} event */
function press(event) {
  const splitter = findSplitter(event.target);
  if (!splitter || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Enter') toggleList(splitter);
  else if (event.key === 'ArrowLeft') resize(splitter, measureList(splitter) + STEP);
  else if (event.key === 'ArrowRight') resize(splitter, measureList(splitter) - STEP);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Show on the chart's button whether the chart is in full. @param {ParentNode} page */
function tellChart(page) {
  for (const button of page.querySelectorAll('[data-toggle-chart]'))
    button.setAttribute('aria-expanded', String(root.dataset.chart === 'full'));
}

function toggleChart() {
  if (root.dataset.chart === 'full') delete root.dataset.chart;
  else root.dataset.chart = 'full';
  store('chart', root.dataset.chart ?? '');
  tellChart(document);
}

/** @param {Document} page */
export function watchPanes(page) {
  const settle = () => {
    tellChart(page);
    for (const splitter of page.querySelectorAll('[data-resize-list]')) {
      if (splitter instanceof HTMLElement) tell(splitter);
    }
  };
  page.addEventListener('pointerdown', drag);
  page.addEventListener('keydown', press);
  page.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('[data-toggle-chart]')) toggleChart();
  });
  page.addEventListener('htmx:afterSwap', settle);
  settle();
}
