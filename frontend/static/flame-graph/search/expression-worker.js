/** Web worker that tests names with a regular expression; the page terminates slow ones. */

addEventListener('message', ({ data: { source, flags, names } }) => {
  try {
    const expression = new RegExp(source, flags);
    postMessage({ found: Uint8Array.from(names, (/** @type {string} */ name) => (expression.test(name) ? 1 : 0)) });
  } catch (error) {
    postMessage({ why: error instanceof Error ? error.message : String(error) });
  }
});
