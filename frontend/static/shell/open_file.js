/**
 * Files of other profilers: dropped onto any page of a project (#drop-zone), or chosen in a dialog
 * that [data-open-file] opens. The page Saved has the dialog's form itself.
 */

import { raiseDialogs } from './dialogs.js';

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
    void open(page, [...(event.dataTransfer?.files ?? [])]);
  });
}

/** @param {DragEvent} event */
function hasFiles(event) {
  return event.dataTransfer?.types.includes('Files') ?? false;
}

/**
 * Show the form that opens files, and send the ones that were dropped.
 * @param {Document} page
 * @param {File[]} files
 */
async function open(page, files) {
  const form = formOf(page) ?? formInDialog(page);
  const input = form?.querySelector('input[type=file]');
  if (input instanceof HTMLElement) input.focus();
  const { sendFiles } = await import('../upload/upload.js');
  if (form && files.length) sendFiles(form, files);
}

/** @param {Document} page @returns {HTMLFormElement | null} */
function formOf(page) {
  return page.querySelector('form[data-open-first]');
}

/** @param {Document} page */
function formInDialog(page) {
  const template = page.getElementById('open-file-dialog');
  if (template instanceof HTMLTemplateElement) page.body.append(template.content.cloneNode(true));
  raiseDialogs(page);
  return formOf(page);
}
