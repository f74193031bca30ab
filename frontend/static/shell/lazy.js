/** Import of scripts on first use, with a notice on the page (#script-failed) if that fails. */

/**
 * Return what `load` imports; null if that failed, which the page then says.
 * @template T
 * @param {() => Promise<T>} load
 * @returns {Promise<T | null>}
 */
export async function importOrNotify(load) {
  const notice = document.querySelector('#script-failed');
  try {
    const script = await load();
    notice?.toggleAttribute('hidden', true);
    return script;
  } catch (error) {
    reportError(error);
    notice?.toggleAttribute('hidden', false);
    return null;
  }
}
