// Request the tree of the flame page while the server merges its profiles, before the rest of the
// document and the modules are there: so it is no module. load.js takes the response.
{
  const { url = '' } = document.currentScript?.dataset ?? {};
  const stop = new AbortController();
  const headers = { Accept: 'application/json' };
  const response = fetch(url, { signal: stop.signal, headers, credentials: 'same-origin' });
  response.catch(() => undefined); // whoever takes the response handles its failure
  Object.assign(globalThis, { earlyTree: { url, response, stop } });
  addEventListener('DOMContentLoaded', () => {
    if (!document.querySelector('flame-graph[src]')) stop.abort(); // the page has nothing to draw
  });
}
