/** Function list, which follows the zoom and the search of the graph. */

import { getParameter } from './address.js';
import { findElement } from '../../dom.js';
import { requestList } from './page-requests.js';

const PAUSE_MS = 250; // pause in typing before the server is queried
const FOLLOWED = ['frame', 'search'];

let pause = 0;
let shown = stateNow(); // of the list on the page

/** Return what the list follows in the URL. */
function stateNow() {
  return JSON.stringify(FOLLOWED.map(getParameter));
}

/** Note that the list was rendered for the current URL, or for another one. @param {URLSearchParams} [of] */
export function noteList(of = new URLSearchParams(location.search)) {
  shown = JSON.stringify(FOLLOWED.map((name) => of.get(name) ?? ''));
}

/** Request the list of the current URL, unless the page shows it. */
export function followList() {
  clearTimeout(pause);
  pause = setTimeout(() => {
    const list = findElement('#functions');
    const page = findElement('#flame');
    if (!list || !page || stateNow() === shown) return;
    const url = new URL(list.dataset.url ?? '', location.href);
    url.search = location.search;
    const { service = '', type = '', seen = '' } = page.dataset;
    for (const [name, value] of Object.entries({ service, type, seen })) url.searchParams.set(name, value);
    void requestList(url);
  }, PAUSE_MS);
}

/** Return whether a response with the list is for the current URL. @param {string} search of the request */
export function isListNow(search) {
  const of = new URLSearchParams(search);
  return JSON.stringify(FOLLOWED.map((name) => of.get(name) ?? '')) === stateNow();
}
