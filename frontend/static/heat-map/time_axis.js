/** Time axis of a heat map at round times of the browser's time zone; without scripts it has those of UTC. */

import { axisText } from '../charts/times.js';
import { listRoundTimes } from './round_times.js';

const MOST_MARKS = 7;
const PIXELS = 80; // of the widest label, and a gap
const LAST = 0.9; // of the width: a label further right would be cut

/** @param {SVGElement} axis with its range in `data-from` and `data-to`, and labels of round times of UTC */
export function showTimeAxis(axis) {
  const [from, to] = [axis.dataset.from, axis.dataset.to].map((time) => Date.parse(time ?? '') / 1000);
  const width = axis.ownerSVGElement?.clientWidth ?? 0;
  const { times, step } = listRoundTimes(from, to, Math.min(MOST_MARKS, Math.floor(width / PIXELS)));
  const marks = times.map((time) => ({ time, x: (time - from) / (to - from) }));
  axis.replaceChildren(
    ...marks
      .filter(({ x }) => x <= LAST)
      .map(({ time, x }) => {
        const label = document.createElementNS(axis.namespaceURI, 'text');
        label.setAttribute('x', `${(x * 100).toFixed(2)}%`);
        label.textContent = axisText(time, step, to - from);
        return label;
      }),
  );
}
