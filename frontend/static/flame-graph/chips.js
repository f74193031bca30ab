/** Filters as chips: what one does is changed in place. Enter takes it over, Escape leaves it as it was. */

import { goTo } from './going.js';

/**
 * Puts another filter in the place of one; "" takes it out.
 * @param {URLSearchParams} parameters
 * @param {string} before `option:value`
 * @param {string} after
 */
export function replaceFilter(parameters, before, after) {
  const filters = parameters.getAll('f');
  const typed = parameters.get('f.value'); // of the form, where the page was asked for without a script
  if (typed) filters.push(`${parameters.get('f.option') ?? ''}:${typed}`);
  for (const name of ['f', 'f.option', 'f.value']) parameters.delete(name);
  const at = filters.indexOf(before);
  if (at >= 0) filters.splice(at, 1, ...(after ? [after] : []));
  else if (after) filters.push(after);
  for (const filter of filters) parameters.append('f', filter);
}

/** @param {EventTarget | null} target @returns {HTMLElement | null} */
function chipOf(target) {
  const chip = target instanceof Element ? target.closest('.chip') : null;
  return chip instanceof HTMLElement ? chip : null;
}

/** @param {HTMLElement} chip */
function fieldsOf(chip) {
  const [option, value] = [chip.querySelector('select'), chip.querySelector('input')];
  return option && value ? { option, value } : null;
}

/** @param {HTMLElement} chip */
function edit(chip) {
  const template = document.querySelector('#chip-editor');
  if (!(template instanceof HTMLTemplateElement) || fieldsOf(chip)) return;
  const editor = template.content.cloneNode(true);
  chip.insertBefore(editor, chip.querySelector('a'));
  chip.classList.add('editing');
  const fields = fieldsOf(chip);
  const [option, ...value] = (chip.dataset.filter ?? '').split(':');
  if (!fields) return;
  fields.option.value = option;
  fields.value.value = value.join(':');
  fields.value.select();
}

/** @param {HTMLElement} chip @param {boolean} back whether the chip gets the focus */
function leave(chip, back) {
  for (const part of chip.querySelectorAll('.chip-editor')) part.remove();
  chip.classList.remove('editing');
  const button = chip.querySelector('[data-edit]');
  if (back && button instanceof HTMLElement) button.focus();
}

/** @param {HTMLElement} chip */
function take(chip) {
  const fields = fieldsOf(chip);
  const before = chip.dataset.filter ?? '';
  if (!fields) return;
  const after = fields.value.value ? `${fields.option.value}:${fields.value.value}` : '';
  leave(chip, true);
  if (after !== before) goTo((parameters) => replaceFilter(parameters, before, after));
}

/**
 * What is typed or chosen in a form; "" where it has no such field.
 * @param {HTMLFormElement} form
 * @param {string} name
 */
function typedIn(form, name) {
  const field = form.querySelector(`:is(select, [type=text], [type=search])[name="${name}"]`);
  return field instanceof HTMLInputElement || field instanceof HTMLSelectElement ? field.value : '';
}

/** The form of filters of a page without htmx: what is left empty in it is not in the address. @param {Document} page */
export function watchFilterForm(page) {
  page.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.id !== 'filters') return;
    event.preventDefault();
    const [option, value, added, search] = ['f.option', 'f.value', 'function', 'search'].map((name) => typedIn(form, name));
    if (!value && !added && !form.elements.namedItem('search')) return;
    goTo((parameters) => {
      for (const gone of ['frame', 'root', 'f.option', 'f.value']) parameters.delete(gone);
      if (form.elements.namedItem('search')) parameters.delete('search');
      if (search) parameters.set('search', search);
      if (value) parameters.append('f', `${option}:${value}`);
      if (!added) return;
      parameters.delete('top');
      parameters.append('function', added);
    });
  });
}

/** @param {Document} page */
export function watchChips(page) {
  page.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('.chip [data-edit]') : null;
    const chip = button && chipOf(button);
    if (chip) edit(chip);
  });
  page.addEventListener('keydown', (event) => {
    const chip = chipOf(event.target);
    if (!chip?.classList.contains('editing')) return;
    if (event.key === 'Enter') take(chip);
    else if (event.key === 'Escape') leave(chip, true);
    else return;
    event.preventDefault();
  });
  page.addEventListener('focusout', (event) => {
    const chip = chipOf(event.target);
    if (chip?.classList.contains('editing') && event.relatedTarget instanceof Node && !chip.contains(event.relatedTarget)) leave(chip, false);
  });
}
