/** Place of a frame in the source: file and line, its page in the repository, and in the editor. */

import { element } from './around.js';
import { sourceLink } from './source-links.js';
import { harmless } from './text.js';
import { fileOf, lineOf } from './tree.js';

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./source-links.js").Place} Place */

/** @param {Tree} tree @param {number} node @returns {Place} */
export function placeOf(tree, node) {
  return { file: fileOf(tree, node), line: lineOf(tree, node) };
}

/** Return `file:line`, or the file alone. @param {Place} place */
export function placeText({ file, line }) {
  return harmless(file && line ? `${file}:${line}` : file);
}

/**
 * Show a place and its links in elements marked data-place and data-editor.
 * @param {Element} root
 * @param {Place} place
 */
export function showPlace(root, place) {
  const data = element('#flame')?.dataset ?? {};
  const others = { version: data.version ?? '', project: data.project ?? '' };
  const [shown, editor] = [root.querySelector('[data-place]'), root.querySelector('a[data-editor]')];
  if (shown) shown.textContent = placeText(place);
  setLink(shown, sourceLink(data.sourceUrl ?? '', data.sourceRoot ?? '', place, others));
  const opens = sourceLink(data.editorUrl ?? '', data.sourceRoot ?? '', place, others);
  editor?.toggleAttribute('hidden', !opens);
  setLink(editor, opens);
}

/** @param {Element | null} link @param {string} url "" for none */
function setLink(link, url) {
  if (url) link?.setAttribute('href', url);
  else link?.removeAttribute('href');
}
