/**
 * Boxes of many levels as pixels: one line of them a level, which the canvas stretches to the level's height. Tens of
 * thousands of boxes cost a browser far less this way than as rectangles of their own.
 */

const SMALL = 16; // pixels that a loop fills faster than a call does

export class Pixels {
  constructor() {
    this.canvas = document.createElement('canvas');
    /** @type {ImageData | null} */
    this.image = null;
    this.line = new Uint32Array(0);
  }

  /** Begins a picture: nothing is on it. @param {number} width of the screen's pixels @param {number} levels */
  begin(width, levels) {
    const { canvas, image } = this;
    if (image?.width === width && image.height === levels) {
      this.line.fill(0);
      return;
    }
    [canvas.width, canvas.height] = [width, levels];
    this.image = new ImageData(width, levels);
    this.line = new Uint32Array(this.image.data.buffer);
  }

  /**
   * @param {number} level
   * @param {number} from
   * @param {number} to exclusive
   * @param {number} colour as pixelOf has it
   */
  fill(level, from, to, colour) {
    const at = level * (this.image?.width ?? 0);
    if (to - from > SMALL) this.line.fill(colour, at + from, at + to);
    else for (let i = at + from; i < at + to; i++) this.line[i] = colour;
  }

  /** What was filled, to be drawn from. @returns {HTMLCanvasElement} */
  finish() {
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d', { willReadFrequently: true }));
    if (this.image) context.putImageData(this.image, 0, 0);
    return this.canvas;
  }
}

/** A colour as four bytes of an image: red first. @param {string} css rgb(…) @returns {number} */
export function pixelOf(css) {
  const [red, green, blue] = (css.match(/[\d.]+/g) ?? []).map(Number);
  return new Uint32Array(new Uint8Array([red, green, blue, 255]).buffer)[0];
}
