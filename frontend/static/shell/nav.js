// Navigation: scrolls the current page's link into view in narrow windows, and keeps the range in
// the links to other pages.

/** @param {ParentNode} root */
export function showCurrentPage(root) {
  root.querySelector('.nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
}

/**
 * Give the links to other pages the range of this one, after a swap of contents that have
 * `data-carried-all`, `data-carried-new` and `data-carried-range`.
 * @param {Document} page
 */
export function watchCarried(page) {
  page.addEventListener('htmx:afterSwap', () => {
    const shown = page.querySelector('[data-carried-all]');
    if (!(shown instanceof HTMLElement)) return;
    for (const link of page.querySelectorAll('a[data-carries]')) {
      if (!(link instanceof HTMLAnchorElement)) continue;
      link.search = shown.getAttribute(`data-carried-${link.dataset.carries}`) ?? '';
    }
  });
}
