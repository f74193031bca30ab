/**
 * Source line of a frame: file and line, its page in the repository, and in the editor.
 *
 * Links are built from templates as frontend/components/functions/source_links.py does.
 */

import { insertValues, markInvisible } from '../../text.js';
import { getFile, getLine } from '../tree/tree.js';

/** @typedef {import("../tree/tree.js").Tree} Tree */
/** @typedef {{file: string, line: number}} SourceLine line 0 if unknown */

/** @param {Tree} tree @param {number} node @returns {SourceLine} */
export function formatSourceLine(tree, node) {
  return { file: getFile(tree, node), line: getLine(tree, node) };
}

/** Return `file:line`, or the file alone. @param {SourceLine} at */
export function sourceText({ file, line }) {
  return markInvisible(file && line ? `${file}:${line}` : file);
}

/** Percent-encode all but letters, digits and `_.-~`, as the server does. @param {string} text */
function encodePart(text) {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * Return the URL of a source line; "" without a pattern, a file, or if the file is not below the prefix.
 * @param {string} pattern link template that the server has checked
 * @param {string} prefix directory of the code on the machines that run it
 * @param {SourceLine} at
 * @param {Record<string, string>} others further values
 */
export function sourceLink(pattern, prefix, { file, line }, others) {
  // Addresses without symbols have no file, but the build id of their binary.
  if (!pattern || !file.startsWith(prefix) || file.startsWith('[build-id ')) return '';
  const path = file.slice(prefix.length).replace(/^\/+/, '');
  if (!path || path.split('/').includes('..') || /\p{Surrogate}/u.test(path)) return '';
  const values = Object.entries(others).map(([name, value]) => [name, encodePart(value)]);
  const encodedPath = path.split('/').map(encodePart).join('/');
  return insertValues(pattern, {
    file: encodedPath,
    path: encodedPath,
    line: String(Math.max(1, line)),
    ...Object.fromEntries(values),
  });
}

/**
 * Show a source line and its links in the elements below `root` with data-source and data-editor.
 * @param {Element} root
 * @param {SourceLine} at
 */
export function showSource(root, at) {
  const flame = document.querySelector('#flame');
  const data = flame instanceof HTMLElement ? flame.dataset : {};
  const linkValues = { version: data.version ?? '', project: data.project ?? '' };
  const [source, editor] = [root.querySelector('[data-source]'), root.querySelector('a[data-editor]')];
  if (source) source.textContent = sourceText(at);
  setLink(source, sourceLink(data.sourceUrl ?? '', data.sourceRoot ?? '', at, linkValues));
  const editorUrl = sourceLink(data.editorUrl ?? '', data.sourceRoot ?? '', at, linkValues);
  editor?.toggleAttribute('hidden', !editorUrl);
  setLink(editor, editorUrl);
}

/** @param {Element | null} link @param {string} url "" for none */
function setLink(link, url) {
  if (url) link?.setAttribute('href', url);
  else link?.removeAttribute('href');
}
