/** Version marks on a time axis: a dotted line where a version first appeared, its name above. */

import { markInvisible } from '../text.js';

/** @typedef {import("./uplot.js").Plot} Plot */
/** @typedef {[number, string]} Version seconds since 1970, name */

const LONGEST = 16;
const LINE = 11; // CSS pixels per row of names
const GAP = 6;

/**
 * Draw the version marks; a name without room in any row is omitted.
 * @param {Plot} plot
 * @param {Version[]} versions by time
 * @param {{text: string, line: string, face: string}} look
 * @param {number} rows rows of names above the plot area; overlapping names move down
 */
export function drawVersions(plot, versions, look, rows) {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio || 1;
  ctx.save();
  ctx.font = `550 ${11 * ratio}px ${look.face}`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'alphabetic';
  const ends = new Array(rows).fill(-Infinity);
  for (const [time, name] of versions) {
    const x = Math.round(plot.valToPos(time, 'x', true));
    if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) continue;
    rule(ctx, x, bbox, look.line, ratio);
    const label = markInvisible(name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);
    const width = ctx.measureText(label).width;
    const left = Math.min(Math.max(bbox.left, x - width / 2), bbox.left + bbox.width - width);
    const row = ends.findIndex((end) => end + GAP * ratio <= left);
    if (row < 0) continue; // the line stays, and the readout there shows the name
    ends[row] = left + width;
    ctx.fillStyle = look.text;
    ctx.fillText(label, left, bbox.top - (4 + (rows - 1 - row) * LINE) * ratio);
  }
  ctx.restore();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {{top: number, height: number}} area
 * @param {string} colour
 * @param {number} ratio
 */
function rule(ctx, x, { top, height }, colour, ratio) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = ratio;
  ctx.setLineDash([2 * ratio, 3 * ratio]);
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, top + height);
  ctx.stroke();
}

/**
 * Return the names of versions that first appeared within a step.
 * @param {Version[]} versions
 * @param {number} from
 * @param {number} to
 */
export function findNewVersions(versions, from, to) {
  return versions.filter(([time]) => time >= from && time < to).map(([, name]) => name);
}
