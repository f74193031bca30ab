/** Colours of the stylesheet for canvases, and notification of theme changes. */

/**
 * @param {Element} element
 * @param {string[]} tokens custom properties without the leading dashes
 * @returns {string[]} rgb(…) of each in the current theme
 */
export function readColours(element, tokens) {
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
 * Call back when the theme changes, by the system or by `data-theme` on the document.
 * @param {() => void} changed
 * @param {AbortSignal} signal
 */
export function watchTheme(changed, signal) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed, { signal });
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  signal.addEventListener('abort', () => observer.disconnect());
}
