// Toasts: messages shown for six seconds, and for as long as pointer or focus is on them.

const SHOWN_MS = 6000;

/** @param {ParentNode} root */
export function fadeToasts(root) {
  for (const toast of root.querySelectorAll('[data-toast]')) {
    const leave = () => {
      if (toast.matches(':hover, :focus-within')) setTimeout(leave, SHOWN_MS);
      else toast.remove();
    };
    setTimeout(leave, SHOWN_MS);
  }
}
