/** Filter chips, edited in place: Enter applies the change, Escape cancels it. */

import { getValues, visit } from '../shell/visit.js';

/**
 * Return the filters with one replaced; an empty replacement removes it.
 * @param {string[]} filters
 * @param {string} before `option:value`
 * @param {string} after
 */
export function replaceFilter(filters, before, after) {
  const changed = [...filters];
  const at = changed.indexOf(before);
  if (at >= 0) changed.splice(at, 1, ...(after ? [after] : []));
  else if (after) changed.push(after);
  return changed;
}

/** @param {EventTarget | null} target @returns {HTMLElement | null} */
function findChip(target) {
  const chip = target instanceof Element ? target.closest('.chip') : null;
  return chip instanceof HTMLElement ? chip : null;
}

/** @param {HTMLElement} chip */
function listFields(chip) {
  const [option, value] = [chip.querySelector('select'), chip.querySelector('input')];
  return option && value ? { option, value } : null;
}

/** @param {HTMLElement} chip */
function edit(chip) {
  const template = document.querySelector('#chip-editor');
  if (!(template instanceof HTMLTemplateElement) || listFields(chip)) return;
  const editor = template.content.cloneNode(true);
  chip.insertBefore(editor, chip.querySelector('a'));
  chip.classList.add('editing');
  const fields = listFields(chip);
  const [option, ...value] = (chip.dataset.filter ?? '').split(':');
  if (!fields) return;
  fields.option.value = option;
  fields.value.value = value.join(':');
  fields.value.select();
}

/** @param {HTMLElement} chip @param {boolean} back whether to focus the chip */
function leave(chip, back) {
  for (const part of chip.querySelectorAll('.chip-editor')) part.remove();
  chip.classList.remove('editing');
  const button = chip.querySelector('[data-edit]');
  if (back && button instanceof HTMLElement) button.focus();
}

/** @param {HTMLElement} chip */
function take(chip) {
  const fields = listFields(chip);
  const before = chip.dataset.filter ?? '';
  if (!fields) return;
  const after = fields.value.value ? `${fields.option.value}:${fields.value.value}` : '';
  leave(chip, true);
  if (after !== before) visit('f', replaceFilter(getValues('f'), before, after));
}

/** @param {Document} page */
export function watchChips(page) {
  page.addEventListener('click', (event) => {
    const chip = findChip(event.target);
    const part =
      event.target instanceof Element ? event.target.closest('.chip [data-edit], .chip[data-filter] > a') : null;
    if (!chip || !part || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (part.hasAttribute('data-edit')) return edit(chip);
    event.preventDefault();
    visit('f', replaceFilter(getValues('f'), chip.dataset.filter ?? '', ''));
  });
  page.addEventListener('keydown', (event) => {
    const chip = findChip(event.target);
    if (!chip?.classList.contains('editing')) return;
    if (event.key === 'Enter') take(chip);
    else if (event.key === 'Escape') leave(chip, true);
    else return;
    event.preventDefault();
  });
  page.addEventListener('focusout', (event) => {
    const chip = findChip(event.target);
    if (
      chip?.classList.contains('editing') &&
      event.relatedTarget instanceof Node &&
      !chip.contains(event.relatedTarget)
    )
      leave(chip, false);
  });
}
