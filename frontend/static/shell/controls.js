/**
 * Controls that change the page's URL, and only the parameters concerned and their dependents.
 *
 * A field of `form[data-address]` changes the parameter of its name; a link with `data-changes`
 * changes the parameters listed there.
 */

import { formatForInput } from './times.js';
import { getValues, visitWith, watchReturns } from './visit.js';

/** @typedef {HTMLInputElement | HTMLSelectElement} Field */
/** @typedef {import('./visit.js').Change} Change */

const TOGETHER = '\x1f'; // separator of values that one menu entry selects together
// applied when the form is submitted
const ON_SUBMIT = ['f.option', 'f.value', 'function', 'search', 'from', 'to'];

/** @param {unknown} target @returns {Field | null} */
function findField(target) {
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement ? target : null;
}

/** @param {ParentNode} root @returns {HTMLFormElement[]} */
function listForms(root) {
  return [...root.querySelectorAll('form[data-address]')].filter((form) => form instanceof HTMLFormElement);
}

/** @param {HTMLFormElement} form @param {string} name @returns {Field[]} */
function fieldsNamed(form, name) {
  return [...form.elements]
    .map(findField)
    .filter((field) => field !== null)
    .filter((field) => field.name === name);
}

/** @param {Field} field @returns {string[]} */
function listChosen(field) {
  if (field.type === 'checkbox') return field instanceof HTMLInputElement && field.checked ? [field.value] : [];
  if (field.type !== 'datetime-local') return field.value.split(TOGETHER);
  const time = new Date(field.value); // in the browser's time zone, see localise
  return Number.isNaN(time.getTime()) ? [] : [`${time.toISOString().slice(0, 19)}Z`];
}

/**
 * Return the changes made by a field; fields of one name are one parameter.
 * @param {HTMLFormElement} form
 * @param {Field} field
 * @returns {Change[]}
 */
function changesBy(form, field) {
  const values = fieldsNamed(form, field.name).flatMap(listChosen);
  const parameter = field.name.replace(/(^|\.)at$/, '$1end');
  if (parameter === 'end' && field.type === 'datetime-local' && !values.length) return [];
  return [...pinBaseline(form, parameter), [parameter, parameter.startsWith('b.') ? values : values.filter(Boolean)]];
}

/**
 * Return whether the chosen entry of a menu is the search of all services, which is no value of its field.
 * @param {unknown} target @returns {target is HTMLSelectElement}
 */
export function isServiceSearch(target) {
  return target instanceof HTMLSelectElement && target.selectedOptions[0]?.dataset.searchServices !== undefined;
}

/** Return the changes that a changed field makes at once. @param {unknown} target @returns {Change[]} */
function listChanges(target) {
  const field = findField(target);
  const form = field?.form;
  if (!field?.name || !form?.hasAttribute('data-address') || ON_SUBMIT.includes(field.name)) return [];
  if (isServiceSearch(field)) return [];
  return changesBy(form, field);
}

/** Return the fields that changed until now, and let early.js note no more. @returns {unknown[]} */
function takeEarlyChanges() {
  /** @type {{earlyChanges?: {targets: unknown[], stop: AbortController}}} */
  const { earlyChanges } = /** @type {object} */ (globalThis);
  earlyChanges?.stop.abort();
  return earlyChanges?.targets.splice(0) ?? [];
}

/**
 * Return the change that keeps the baseline's time range when it gets its first parameter.
 *
 * Without parameters of its own, the baseline is the time before the selected range.
 * @param {HTMLFormElement} form
 * @param {string} parameter
 * @returns {Change[]}
 */
function pinBaseline(form, parameter) {
  const has = [...new URL(location.href).searchParams.keys()].some((name) => name.startsWith('b.'));
  const [end] = fieldsNamed(form, 'b.end');
  if (!parameter.startsWith('b.') || parameter === 'b.end' || has || !end) return [];
  const shown =
    end instanceof HTMLSelectElement ? [...end.options].find((option) => option.defaultSelected)?.value : end.value;
  return shown ? [['b.end', shown]] : [];
}

/**
 * Return the changes that a form makes when it is submitted.
 * @param {HTMLFormElement} form
 * @returns {Change[]}
 */
function listAdditions(form) {
  const typed = (/** @type {string} */ name) => fieldsNamed(form, name)[0]?.value ?? '';
  /** @type {Change[]} */
  const changes = [];
  if (typed('f.value')) changes.push(['f', [...getValues('f'), `${typed('f.option')}:${typed('f.value')}`]]);
  if (typed('function')) changes.push(['function', [...getValues('function'), typed('function')]]);
  if (fieldsNamed(form, 'search').length) changes.push(['search', typed('search')]);
  return changes;
}

/** @param {HTMLFormElement} form */
function send(form) {
  const changes = listAdditions(form);
  for (const field of [...fieldsNamed(form, 'f.value'), ...fieldsNamed(form, 'function')]) field.value = '';
  for (const menu of form.querySelectorAll('details[data-menu][open]')) menu.removeAttribute('open');
  visitWith(changes);
}

/**
 * Convert a field's value from UTC, as the server sends it, to the browser's time zone.
 * @param {HTMLInputElement} input
 */
function localise(input) {
  input.dataset.local = '';
  input.value = input.defaultValue = formatForInput(new Date(input.dataset.moment ?? ''));
  const label = input.closest('label')?.querySelector('.sr');
  if (label) label.textContent = input.dataset.label ?? '';
}

/** Reset fields to the values in the URL, once the page shows it. @param {Document} page */
export function settleControls(page) {
  for (const input of page.querySelectorAll('form[data-address] input[type=datetime-local][data-moment]')) {
    if (input instanceof HTMLInputElement && !('local' in input.dataset)) localise(input);
  }
  for (const form of listForms(page)) {
    if (form.id !== 'filters') form.reset();
  }
}

/** @param {Document} page */
export function watchControls(page) {
  const early = takeEarlyChanges().flatMap(listChanges);
  page.addEventListener('change', ({ target }) => visitWith(listChanges(target)));
  page.addEventListener('submit', (event) => {
    if (!(event.target instanceof HTMLFormElement) || !event.target.hasAttribute('data-address')) return;
    event.preventDefault();
    send(event.target);
  });
  page.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[data-changes]') : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    visitWith(JSON.parse(link.getAttribute('data-changes') ?? '[]'));
  });
  settleControls(page);
  visitWith(early);
  watchReturns(() => settleControls(page));
}
