/** Pages of a project that this browser showed last, in its local storage. */

/** @typedef {{address: string, label: string, at: number}} Recent */

const MOST = 20;
const PATHS = /^\/p\/([a-z0-9-]+)\/(flame|compare|history|breakdown|profiles|agents|services)$/;

/** Return the key in local storage of the project's pages. @param {string} path */
function buildKey(path) {
  return `recent:${/^\/p\/([a-z0-9-]+)/.exec(path)?.[1] ?? ''}`;
}

/** Return the pages of this project, the last one first; empty if storage is unavailable. @returns {Recent[]} */
export function recentViews() {
  try {
    const found = JSON.parse(localStorage.getItem(buildKey(location.pathname)) ?? '[]');
    return Array.isArray(found) ? found.filter(isRecent) : [];
  } catch {
    return [];
  }
}

/** @param {any} each @returns {boolean} whether it is an entry with an address on this site */
function isRecent(each) {
  return typeof each?.address === 'string' && each.address.startsWith('/p/') && typeof each.label === 'string';
}

/** Name the page by its heading in the navigation, and what it shows. */
function label() {
  const parameters = new URLSearchParams(location.search);
  const page = document.querySelector('#flame, #compare, #history, #breakdown');
  const snapshot = document.querySelector('#picker.snapshot h2')?.textContent;
  const shown = ['service', 'type'].map((name) => parameters.get(name) ?? page?.getAttribute(`data-${name}`));
  const others = ['version', 'span', 'view', 'focus', 'find'].map((name) => parameters.get(name));
  const name = document.querySelector('.nav [aria-current]')?.textContent?.trim();
  return [name, snapshot, ...(snapshot ? [] : shown), ...others].filter(Boolean).join(' · ');
}

/** Add the page as it is now. */
export function noteRecent() {
  if (!PATHS.test(location.pathname) || document.querySelector('main .narrow')) return;
  const address = location.pathname + location.search;
  const others = recentViews().filter((each) => each.address !== address);
  try {
    const entries = [{ address, label: label(), at: Date.now() }, ...others].slice(0, MOST);
    localStorage.setItem(buildKey(location.pathname), JSON.stringify(entries));
  } catch {
    /* storage is unavailable or full: the list stays as it is */
  }
}

/** List the pages in the element for them, if there is one. @param {Document} page */
function showRecent(page) {
  const list = page.querySelector('[data-recent-views]');
  const found = recentViews();
  if (!(list instanceof HTMLElement) || !found.length) return;
  list.replaceChildren(
    ...found.map(({ address, label: text, at }) => {
      const [row, link, time] = ['li', 'a', 'time'].map((tag) => page.createElement(tag));
      link.setAttribute('href', address);
      link.textContent = text;
      time.setAttribute('datetime', new Date(at).toISOString());
      time.dataset.ago = '';
      time.className = 'muted small';
      row.append(link, ' ', time);
      return row;
    }),
  );
  list.closest('[hidden]')?.removeAttribute('hidden');
}

/** @param {Document} page */
export function watchRecent(page) {
  showRecent(page);
  addEventListener('pagehide', noteRecent);
}
