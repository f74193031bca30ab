// Menus: <details data-menu> opens without scripts. This module closes it on Escape, on a click
// outside, and when another menu opens.

/** @param {ParentNode} root @param {Node} [but] */
export function closeMenus(root, but) {
  for (const menu of root.querySelectorAll('details[data-menu][open]')) {
    if (!but || !menu.contains(but)) menu.removeAttribute('open');
  }
}

/** @param {Document} page */
export function watchMenus(page) {
  page.addEventListener('click', (event) => {
    closeMenus(page, event.target instanceof Node ? event.target : undefined);
  });
  page.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    const open = page.querySelector('details[data-menu][open]');
    const summary = open?.querySelector('summary');
    closeMenus(page);
    if (open?.contains(page.activeElement)) summary?.focus();
  });
  page.addEventListener('focusin', (event) => {
    closeMenus(page, event.target instanceof Node ? event.target : undefined);
  });
}
