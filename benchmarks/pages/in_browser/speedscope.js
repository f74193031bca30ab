// Measure speedscope on the same tree, in its own format: first render, and zoom by double click to the next picture.
import { median, painted, timed } from '/timing.js';

const ZOOMS = 9;

/** Return the time since the file's last byte; the page's title changes once the file is read. */
async function first() {
  while (document.title === 'speedscope') await painted();
  await painted();
  const [file] = performance.getEntriesByName(new URL('/speedscope.json', location.href).href);
  return performance.now() - file.responseEnd;
}

async function zooms() {
  const canvases = [...document.querySelectorAll('canvas')].map((canvas) => canvas.getBoundingClientRect());
  const { left, top, width, height } = canvases.sort((a, b) => b.width * b.height - a.width * a.height)[0];
  const found = [];
  for (let i = 0; i < ZOOMS; i++) {
    const at = { clientX: left + (width * (i + 1)) / (ZOOMS + 1), clientY: top + height / 2, bubbles: true };
    const under = document.elementFromPoint(at.clientX, at.clientY);
    found.push(await timed(() => under?.dispatchEvent(new MouseEvent('dblclick', at))));
  }
  return median(found);
}

const measured = { first: await first(), zoom: await zooms() };
document.documentElement.setAttribute('data-measured', JSON.stringify(measured));
