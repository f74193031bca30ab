/** The stylesheet's colours for what is drawn on a canvas, and when they change. */

/**
 * @param {Element} element
 * @param {string[]} tokens custom properties without their dashes
 * @returns {string[]} rgb(…) of each, as the theme has it
 */
export function coloursOf(element, tokens) {
  const probe = document.createElement('i');
  element.append(probe);
  const found = tokens.map((token) => {
    probe.style.color = `var(--${token})`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return found;
}

/**
 * Calls back whenever light turns dark: by the system, or by `data-theme` on the document.
 * @param {() => void} changed
 * @param {AbortSignal} signal
 */
export function watchTheme(changed, signal) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed, { signal });
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  signal.addEventListener('abort', () => observer.disconnect());
}
