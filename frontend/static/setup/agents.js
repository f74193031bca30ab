/**
 * Agents of the set-up page, one of which is open: the same one stays open when a new key replaces the
 * commands. The browser closes the new one, because for a moment the old one of its group is beside it.
 */

/** @type {string | undefined} */
let openId;

document.addEventListener('htmx:beforeSwap', () => {
  openId = document.querySelector('#connect details[open]')?.id;
});

document.addEventListener('htmx:afterSwap', () => {
  if (openId) document.getElementById(openId)?.setAttribute('open', '');
});
