// Behaviours that do not wait for the modules: this script loads before the page is drawn, so it is
// no module.

// Theme: the user's last choice, otherwise the system's. `?theme=dark` or `?theme=light` forces a
// theme for this page view only.
{
  const root = document.documentElement;
  const key = 'theme';

  /** @returns {string | null} the stored theme; null if storage is unavailable */
  const remembered = () => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  };

  /** @param {string} theme */
  const remember = (theme) => {
    try {
      localStorage.setItem(key, theme);
    } catch {
      /* storage is unavailable: the choice holds for this page only */
    }
  };

  const theme = new URLSearchParams(location.search).get('theme') ?? remembered();
  if (theme === 'dark' || theme === 'light') root.dataset.theme = theme;

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

// Sizes that the user chose for the panes of a page: they are set before the page is drawn, so that nothing
// moves. page-controls/panes.js changes and stores them.
{
  const root = document.documentElement;
  try {
    if (localStorage.getItem('chart') === 'full') root.dataset.chart = 'full';
    const width = localStorage.getItem('list-width');
    if (width === '0') root.dataset.list = 'hidden';
    else if (width && Number(width) > 0) root.style.setProperty('--list-width', `${Number(width)}px`);
  } catch {
    /* storage is unavailable: the page has its default sizes */
  }
}

// Fields that change before controls.js, which takes them, watches the page.
{
  /** @type {(EventTarget | null)[]} */
  const targets = [];
  const stop = new AbortController();
  document.addEventListener('change', ({ target }) => targets.push(target), { signal: stop.signal });
  Object.assign(globalThis, { earlyChanges: { targets, stop } });
}

// Languages like `en-US@posix` (Chromium on Linux without a locale) or "", for which Intl throws, in our
// modules as in uPlot: the page's language takes their place.
try {
  new Intl.Locale(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: document.documentElement.lang || 'en' });
}
