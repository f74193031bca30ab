/**
 * Progress of a requested capture, which htmx polls: its id is kept in the page's URL, so that a
 * reload shows it again, and screen readers announce changes of its state, not the seconds left.
 */

const PARAMETER = 'capture';

/** @param {string} id "" removes it */
function keepInAddress(id) {
  const url = new URL(location.href);
  if ((url.searchParams.get(PARAMETER) ?? '') === id) return;
  if (id) url.searchParams.set(PARAMETER, id);
  else url.searchParams.delete(PARAMETER);
  history.replaceState(history.state, '', url);
}

/** @param {string} sentence */
function announce(sentence) {
  const said = document.querySelector('#capture-said');
  if (said && said.textContent !== sentence) said.textContent = sentence;
}

document.addEventListener('htmx:afterSwap', () => {
  const shown = document.querySelector('#capture-card [data-capture]');
  if (!(shown instanceof HTMLElement)) return;
  keepInAddress(shown.dataset.capture ?? '');
  announce(shown.dataset.said ?? '');
  for (const menu of document.querySelectorAll('details[open]:has(form[action$="/capture"])'))
    menu.removeAttribute('open');
});

document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest('[data-dismiss-capture]') : null;
  const card = button?.closest('#capture-card');
  if (!card) return;
  const elt = card.firstElementChild;
  elt?.dispatchEvent(new CustomEvent('htmx:abort', { bubbles: true, detail: { elt } })); // a poll under way
  card.replaceChildren();
  keepInAddress('');
});
