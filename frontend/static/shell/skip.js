/** Skip links: they move the focus, not the URL. What is not on the page now is in its contents. */

/** @param {Document} page */
export function watchSkipLinks(page) {
  page.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a.skip') : null;
    if (!link) return;
    event.preventDefault();
    const part = page.querySelector(link.getAttribute('href') ?? '#main');
    const target = part instanceof HTMLElement && part.checkVisibility() ? part : page.getElementById('main');
    target?.focus();
    target?.scrollIntoView({ block: 'nearest' });
  });
}
