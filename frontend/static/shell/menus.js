// Menus: <details data-menu> opens without scripts. This module closes it on Escape, on a click
// outside, and when another menu opens, and moves what opens beyond the window into it.

const MARGIN = 8; // px, between the contents and the edge of the window

/** @param {ParentNode} root @param {Node} [but] */
export function closeMenus(root, but) {
  for (const menu of root.querySelectorAll('details[data-menu][open]')) {
    if (!but || !menu.contains(but)) menu.removeAttribute('open');
  }
}

/** Move the contents of an open menu to the left if the window ends before them. @param {Element} menu */
function fitIntoWindow(menu) {
  const contents = menu.querySelector(':scope > .pop');
  if (!(contents instanceof HTMLElement)) return;
  contents.style.translate = '';
  const beyond = contents.getBoundingClientRect().right - document.documentElement.clientWidth;
  if (beyond > 0) contents.style.translate = `${-beyond - MARGIN}px`;
}

/** @param {Document} page */
export function watchMenus(page) {
  page.addEventListener(
    'toggle',
    ({ target }) => {
      if (target instanceof Element && target.matches('details[data-menu][open]')) fitIntoWindow(target);
    },
    true, // it does not bubble
  );
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
