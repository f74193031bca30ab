// Notice (#trouble) of failed requests for parts of the page, which keep their old data. The flame
// page has a notice of its own.

/** @param {Event} event @returns {any} htmx's detail */
const getDetail = (event) => (event instanceof CustomEvent ? event.detail : {});

/** @param {Document} page @param {string} reason "" removes the notice */
function say(page, reason) {
  const box = page.getElementById('trouble');
  const words = box?.querySelector('div');
  if (!box || !words || page.getElementById('flame-failed')) return;
  const text = box.getAttribute(`data-${reason}`) ?? '';
  if (words.textContent !== text) words.textContent = text;
  box.hidden = !reason;
}

/**
 * @param {any} detail
 * @returns {boolean} whether the response is from another page than requested
 */
function isRedirected({ xhr, pathInfo }) {
  if (!xhr?.responseURL || !pathInfo) return false;
  return new URL(xhr.responseURL).pathname !== new URL(pathInfo.finalRequestPath, location.href).pathname;
}

/** @param {Document} page */
export function watchTrouble(page) {
  page.addEventListener('htmx:beforeOnLoad', (event) => {
    if (!isRedirected(getDetail(event))) return;
    // the session ended: load the sign-in page as a whole, not into a part of this page
    event.preventDefault();
    location.reload();
  });
  page.addEventListener('htmx:afterRequest', (event) => {
    if (getDetail(event).successful) say(page, '');
  });
  page.addEventListener('htmx:responseError', (event) => {
    say(page, getDetail(event).xhr?.status === 404 ? 'gone' : 'failed');
  });
  page.addEventListener('htmx:sendError', () => say(page, 'offline'));
}
