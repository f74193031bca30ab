// Where the navigation scrolls (narrow windows), the current page's link is in view.

/** @param {ParentNode} root */
export function showCurrentPage(root) {
  root.querySelector('.nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
}
