// Navigation: scrolls the current page's link into view in narrow windows.

/** @param {ParentNode} root */
export function showCurrentPage(root) {
  root.querySelector('.nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
}
