/** The vendored uPlot: its types as far as the charts use it, and loading it later than the page. */

/**
 * @typedef {object} Plot
 * @property {HTMLElement} root
 * @property {number} height CSS pixels, axes included
 * @property {HTMLElement} over overlay of the plot area, in CSS pixels
 * @property {CanvasRenderingContext2D} ctx in device pixels
 * @property {{left: number, top: number, width: number, height: number}} bbox of the plot, device pixels
 * @property {(value: number, scale: string, canvas?: boolean) => number} valToPos
 * @property {(left: number, scale: string) => number} posToVal
 * @property {(left: number) => number} posToIdx
 * @property {(cursor: {left: number, top: number}) => void} setCursor
 * @property {(box: {left: number, top: number, width: number, height: number}, fire: boolean) => void} setSelect
 * @property {(size: {width: number, height: number}) => void} setSize
 * @property {{left: number, idx: number | null}} cursor
 * @property {() => void} destroy
 */

/**
 * @typedef {object} Library
 * @property {{bars: (options: object) => unknown}} paths
 */

/** @returns {Library & (new (options: object, data: (number | null)[][], target: HTMLElement) => Plot)} */
export function library() {
  return /** @type {any} */ (globalThis).uPlot;
}

/** @type {Promise<void> | null} */
let loading = null;

/**
 * Load uPlot, unless the page has it.
 * @param {string} url
 * @returns {Promise<void>} rejects if the script cannot be fetched; a later call tries again
 */
export function loadLibrary(url) {
  if (library()) return Promise.resolve();
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = url;
    script.addEventListener('load', () => resolve());
    script.addEventListener('error', () => {
      script.remove();
      loading = null;
      reject(new Error(`cannot fetch ${url}`));
    });
    document.head.append(script);
  });
  return loading;
}
