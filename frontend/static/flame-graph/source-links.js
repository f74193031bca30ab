/** Links to source lines, built from templates as frontend/components/source_links.py does. */

import { filled } from './text.js';

/** @typedef {{file: string, line: number}} SourceLine line 0 if unknown */

/** Percent-encode all but letters, digits and `_.-~`, as the server does. @param {string} text */
function encoded(text) {
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
  const values = Object.entries(others).map(([name, value]) => [name, encoded(value)]);
  const encodedPath = path.split('/').map(encoded).join('/');
  return filled(pattern, {
    file: encodedPath,
    path: encodedPath,
    line: String(Math.max(1, line)),
    ...Object.fromEntries(values),
  });
}
