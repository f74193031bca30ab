/** The pages' pickers: a choice in `form[data-picker]` leads to the page that it asks for. */

import { localText, showMoments } from '../flame-graph/moments.js';

const SIDE = /^b\./; // of the second side of a comparison

/** @type {Record<string, string[]>} what a menu offers depends on these: its choice is no longer meant */
const DEPENDENT = { service: ['zone', 'version', 'metric'], type: ['metric'] };

/**
 * The address that a form asks for, without what says nothing.
 * @param {string} action
 * @param {FormData} body
 * @param {string} changed name of the field that a person has changed
 */
export function addressOf(action, body, changed) {
  const dropped = DEPENDENT[changed] ?? [];
  const parameters = new URLSearchParams();
  for (const [name, value] of body) {
    const [side, own] = SIDE.test(name) ? ['b.', name.replace(SIDE, '')] : ['', name];
    if (typeof value !== 'string' || dropped.includes(own)) continue;
    // Without these the second side has the first one's.
    if (!side && (!value || (own === 'end' && value === 'now'))) continue;
    if (own === 'at' && body.get(`${side}end`) !== 'at') continue;
    parameters.append(name, value);
  }
  return `${action}?${parameters}`;
}

/** @param {HTMLFormElement} form @param {string} changed */
function follow(form, changed) {
  const body = new FormData(form);
  for (const input of moments(form)) {
    const time = new Date(input.value);
    if (!Number.isNaN(time.getTime())) body.set(input.name, `${time.toISOString().slice(0, 19)}Z`);
  }
  location.assign(addressOf(form.action, body, changed));
}

/** @param {HTMLFormElement} form @returns {HTMLInputElement[]} */
function moments(form) {
  const found = form.querySelectorAll('input[type=datetime-local][data-moment]');
  return [...found].filter((one) => one instanceof HTMLInputElement);
}

/** The server's moments are in UTC; a person means theirs. @param {HTMLInputElement} input */
function localise(input) {
  input.dataset.local = '';
  input.value = input.defaultValue = localText(new Date(input.dataset.moment ?? ''));
  const label = input.closest('label')?.querySelector('.sr');
  if (label) label.textContent = input.dataset.label ?? '';
}

/** @param {Document} page */
export function watchPickers(page) {
  const forms = page.querySelectorAll('form[data-picker]');
  for (const form of forms) {
    if (!(form instanceof HTMLFormElement)) continue;
    moments(form).forEach(localise);
    form.addEventListener('change', (event) => {
      const field = event.target;
      const named = field instanceof HTMLSelectElement || field instanceof HTMLInputElement;
      follow(form, named ? field.name : '');
    });
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      follow(form, '');
    });
  }
  if (forms.length) showMoments(page); // the charts' times
}
