// When the server does not answer a part of the page: old data stays, with a line saying so (#trouble).
// The flame page has a line of its own.

/** @param {Event} event @returns {any} htmx's detail */
const detailOf = (event) => (event instanceof CustomEvent ? event.detail : {});

/** @param {Document} page @param {string} reason "" takes the line away */
function say(page, reason) {
  const box = page.getElementById('trouble');
  const words = box?.querySelector('div');
  if (!box || !words || page.getElementById('flame-failed')) return;
  const text = box.getAttribute(`data-${reason}`) ?? '';
  if (words.textContent !== text) words.textContent = text;
  box.hidden = !reason;
}

/** @param {any} detail @returns {boolean} whether the answer is of another page than the one that was asked for */
function isRedirected({ xhr, pathInfo }) {
  if (!xhr?.responseURL || !pathInfo) return false;
  return new URL(xhr.responseURL).pathname !== new URL(pathInfo.finalRequestPath, location.href).pathname;
}

/** @param {Document} page */
export function watchTrouble(page) {
  page.addEventListener('htmx:beforeOnLoad', (event) => {
    if (!isRedirected(detailOf(event))) return;
    event.preventDefault(); // the session ended: to the sign-in page goes the person, not a part of the page
    location.reload();
  });
  page.addEventListener('htmx:afterRequest', (event) => {
    if (detailOf(event).successful) say(page, '');
  });
  page.addEventListener('htmx:responseError', (event) => {
    say(page, detailOf(event).xhr?.status === 404 ? 'gone' : 'failed');
  });
  page.addEventListener('htmx:sendError', () => say(page, 'offline'));
}
