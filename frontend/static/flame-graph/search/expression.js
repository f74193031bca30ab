/** Regular expression search in a worker, limited to one second for all names together. */

import { separateFlags } from './matches.js';

const WAIT_MS = 1000;

/** Error of an expression that is invalid (message: the reason) or too slow (message: ""). */
export class BadExpression extends Error {}

/** @type {Worker | null} the running worker, which a newer search terminates */
let busy = null;

/**
 * Test names in a worker; reject with BadExpression if it fails or takes over WAIT_MS.
 * @param {string} expression
 * @param {string[]} names
 * @returns {Promise<Uint8Array>} 1 where the name matches
 */
export function testNames(expression, names) {
  busy?.terminate();
  const worker = new Worker(new URL('./expression-worker.js', import.meta.url), { type: 'module' });
  busy = worker;
  return new Promise((resolve, reject) => {
    const stop = setTimeout(() => {
      worker.terminate();
      reject(new BadExpression(''));
    }, WAIT_MS);
    worker.addEventListener('message', ({ data }) => {
      clearTimeout(stop);
      worker.terminate();
      if (data.found) resolve(data.found);
      else reject(new BadExpression(data.why));
    });
    const [source, flags] = separateFlags(expression);
    worker.postMessage({ source, flags, names });
  });
}
