// Light or dark: what the person chose last, else the system's. Loaded before the page is drawn, so no module.
// `?theme=dark` or `?theme=light` forces one for this page alone.
{
  const root = document.documentElement;
  const key = 'theme';

  /** @returns {string | null} what was remembered; null where storage is barred */
  const remembered = () => {
    try { return localStorage.getItem(key); } catch { return null; }
  };

  /** @param {string} theme */
  const remember = (theme) => {
    try { localStorage.setItem(key, theme); } catch { /* barred: it holds for this page */ }
  };

  const wanted = new URLSearchParams(location.search).get('theme') ?? remembered();
  if (wanted === 'dark' || wanted === 'light') root.dataset.theme = wanted;

  document.addEventListener('click', (event) => {
    if (!(event.target instanceof Element) || !event.target.closest('[data-toggle-theme]')) return;
    const dark = root.dataset.theme
      ? root.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    remember(root.dataset.theme);
    root.dispatchEvent(new CustomEvent('themechange', { bubbles: true }));
  });
}
