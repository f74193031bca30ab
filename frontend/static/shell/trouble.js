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

/** @param {Document} page */
export function watchTrouble(page) {
  page.addEventListener('htmx:before:response', (event) => {
    if (!detailOf(event).ctx?.response?.raw?.redirected) return;
    event.preventDefault(); // the session ended: to the sign-in page goes the person, not a part of the page
    location.reload();
  });
  page.addEventListener('htmx:after:request', (event) => {
    if (detailOf(event).ctx?.response?.status < 400) say(page, '');
  });
  page.addEventListener('htmx:response:error', (event) => {
    say(page, detailOf(event).ctx?.response?.status === 404 ? 'gone' : 'failed');
  });
  page.addEventListener('htmx:error', (event) => {
    if (detailOf(event).error?.name !== 'AbortError') say(page, 'offline'); // else a newer request took its place
  });
}
