/** Download of the graph as SVG; for a focused function, of both graphs. */

import { graphs } from './graph-pane.js';
import { renderSvg } from '../graph/svg.js';

/** Return the base name that the server gives a download of the same profiles. */
function fileName() {
  const page = document.querySelector('#flame');
  const parts = ['service', 'type'].map((name) => page?.getAttribute(`data-${name}`) ?? '');
  const range = document.querySelector('#range');
  const times = ['from', 'to'].map((name) => (range?.getAttribute(`data-${name}`) ?? '').replace(/[-:]/g, ''));
  return `profiler_${[...parts, ...times].map((part) => part.replace(/[^\w.-]+/g, '-').slice(0, 60)).join('_')}`;
}

export function savePictures() {
  for (const flame of graphs()) {
    const { data, picture, view } = flame;
    if (!data || !picture || !view) continue;
    const svg = renderSvg(flame.buildDrawing(data), picture.palette, view.clientWidth, flame.flip);
    const side = flame.getAttribute('side');
    save(new Blob([svg], { type: 'image/svg+xml' }), `${fileName()}${side ? `_${side}` : ''}.svg`);
  }
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
