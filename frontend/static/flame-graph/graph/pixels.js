/**
 * Image of boxes with one line of pixels per level.
 *
 * The canvas stretches each line to the level's height. Tens of thousands of boxes cost a browser
 * far less this way than as individual rectangles.
 */

const SMALL = 16; // pixels: up to this width a loop is faster than Uint32Array.fill

export class Pixels {
  constructor() {
    this.canvas = document.createElement('canvas');
    /** @type {ImageData | null} */
    this.image = null;
    this.line = new Uint32Array(0);
  }

  /** Start an empty picture. @param {number} width in device pixels @param {number} levels */
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
   * @param {number} colour as returned by readPixel
   */
  fill(level, from, to, colour) {
    const at = level * (this.image?.width ?? 0);
    if (to - from > SMALL) this.line.fill(colour, at + from, at + to);
    else for (let i = at + from; i < at + to; i++) this.line[i] = colour;
  }

  /** Return the filled image as a canvas to draw from. @returns {HTMLCanvasElement} */
  finish() {
    const context = /** @type {CanvasRenderingContext2D} */ (
      this.canvas.getContext('2d', { willReadFrequently: true })
    );
    if (this.image) context.putImageData(this.image, 0, 0);
    return this.canvas;
  }
}

/**
 * Return a colour as the four bytes of an image pixel, red first.
 * @param {string} css rgb(…)
 * @returns {number}
 */
export function readPixel(css) {
  const [red, green, blue] = (css.match(/[\d.]+/g) ?? []).map(Number);
  return new Uint32Array(new Uint8Array([red, green, blue, 255]).buffer)[0];
}
