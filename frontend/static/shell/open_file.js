/**
 * Files of other profilers: dropped onto any page of a project (#drop-zone), or chosen in a dialog
 * that [data-open-file] opens. The page Saved has the dialog's form itself. For viewers, the drop zone says
 * why a file is not opened (data-denied), also after the drop.
 */

import { raiseDialogs } from './dialogs.js';
import { fadeToasts } from './toasts.js';

/** @param {Document} page */
export function watchFiles(page) {
  const zone = page.getElementById('drop-zone');
  if (!zone) return;
  page.addEventListener('click', (event) => {
    if (!(event.target instanceof Element) || !event.target.closest('[data-open-file]')) return;
    event.preventDefault();
    void open(page, []);
  });
  page.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    zone.hidden = false;
  });
  page.addEventListener('dragleave', (event) => {
    if (!event.relatedTarget) zone.hidden = true; // the pointer left the window, or Escape was pressed
  });
  page.addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    zone.hidden = true;
    if (zone.hasAttribute('data-denied')) sayDenied(page, zone);
    else void open(page, [...(event.dataTransfer?.files ?? [])]);
  });
}

/** @param {DragEvent} event */
function hasFiles(event) {
  return event.dataTransfer?.types.includes('Files') ?? false;
}

/** Say in a toast what the drop zone says. @param {Document} page @param {HTMLElement} zone */
function sayDenied(page, zone) {
  page.querySelector('.toasts.denied')?.remove();
  const toasts = page.createElement('div');
  toasts.className = 'toasts denied';
  toasts.setAttribute('role', 'alert');
  const toast = page.createElement('div');
  toast.className = 'toast';
  toast.dataset.toast = '';
  toast.textContent = [...zone.querySelectorAll('b, p')].map((part) => part.textContent?.trim()).join('. ');
  toasts.append(toast);
  page.body.append(toasts);
  fadeToasts(toasts);
}

/**
 * Show the form that opens files, and send the ones that were dropped.
 * @param {Document} page
 * @param {File[]} files
 */
async function open(page, files) {
  const form = findForm(page) ?? formInDialog(page);
  const input = form?.querySelector('input[type=file]');
  if (input instanceof HTMLElement) input.focus();
  const { sendFiles } = await import('../upload/upload.js');
  if (form && files.length) sendFiles(form, files);
}

/** @param {Document} page @returns {HTMLFormElement | null} */
function findForm(page) {
  return page.querySelector('form[data-open-first]');
}

/** @param {Document} page */
function formInDialog(page) {
  const template = page.getElementById('open-file-dialog');
  if (template instanceof HTMLTemplateElement) page.body.append(template.content.cloneNode(true));
  raiseDialogs(page);
  return findForm(page);
}
