/** Source line of a frame: file and line, its page in the repository, and in the editor. */

import { sourceLink } from './source-links.js';
import { harmless } from './text.js';
import { fileOf, lineOf } from './tree.js';

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./source-links.js").SourceLine} SourceLine */

/** @param {Tree} tree @param {number} node @returns {SourceLine} */
export function sourceLineOf(tree, node) {
  return { file: fileOf(tree, node), line: lineOf(tree, node) };
}

/** Return `file:line`, or the file alone. @param {SourceLine} at */
export function sourceText({ file, line }) {
  return harmless(file && line ? `${file}:${line}` : file);
}

/**
 * Show a source line and its links in elements marked data-source and data-editor.
 * @param {Element} root
 * @param {SourceLine} at
 */
export function showSource(root, at) {
  const page = document.querySelector('#flame');
  const data = page instanceof HTMLElement ? page.dataset : {};
  const others = { version: data.version ?? '', project: data.project ?? '' };
  const [shown, editor] = [root.querySelector('[data-source]'), root.querySelector('a[data-editor]')];
  if (shown) shown.textContent = sourceText(at);
  setLink(shown, sourceLink(data.sourceUrl ?? '', data.sourceRoot ?? '', at, others));
  const opens = sourceLink(data.editorUrl ?? '', data.sourceRoot ?? '', at, others);
  editor?.toggleAttribute('hidden', !opens);
  setLink(editor, opens);
}

/** @param {Element | null} link @param {string} url "" for none */
function setLink(link, url) {
  if (url) link?.setAttribute('href', url);
  else link?.removeAttribute('href');
}
