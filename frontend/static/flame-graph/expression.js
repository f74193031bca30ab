/** Regular expressions of a search, in a worker that has a second for all names together. */

const PATIENCE_MS = 1000;

/** An expression that cannot be read (why) or takes too long (why is ""). */
export class BadExpression extends Error {}

/** @type {Worker | null} the one at work: a newer search stops it */
let busy = null;

/**
 * @param {string} source
 * @param {string[]} names
 * @returns {Promise<Uint8Array>} 1 where the name matches
 */
export function tested(source, names) {
  busy?.terminate();
  const worker = new Worker(new URL('./expression-worker.js', import.meta.url), { type: 'module' });
  busy = worker;
  return new Promise((resolve, reject) => {
    const stop = setTimeout(() => {
      worker.terminate();
      reject(new BadExpression(''));
    }, PATIENCE_MS);
    worker.addEventListener('message', ({ data }) => {
      clearTimeout(stop);
      worker.terminate();
      if (data.found) resolve(data.found);
      else reject(new BadExpression(data.why));
    });
    worker.postMessage({ source, names });
  });
}
