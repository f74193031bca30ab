/** Range selection on a chart by mouse, pen or finger: previewed while dragging, then applied. */

const LEAST = 4; // pixels: a shorter drag is a click

/**
 * @typedef {object} Drags
 * @property {(x: number) => number} anchor x of the fixed end of a drag that begins at the given x;
 *   when an edge of the selection is moved, it is the other edge
 * @property {(left: number, right: number) => void} show
 * @property {(left: number, right: number) => void} choose
 * @property {(x: number) => void} click a press that was too short for a range
 * @property {() => void} end
 */

/**
 * Call `drags` while a range of `over` is selected; positions are in CSS pixels of `over`.
 * @param {HTMLElement} over
 * @param {Drags} drags
 * @param {AbortSignal} signal
 */
export function watchDrags(over, drags, signal) {
  /** @type {{anchor: number, began: number} | null} */
  let drag = null;
  const at = (/** @type {PointerEvent} */ event) => {
    const box = over.getBoundingClientRect();
    return Math.min(box.width, Math.max(0, event.clientX - box.left));
  };
  const ends = (/** @type {PointerEvent} */ event, /** @type {number} */ anchor) => {
    const x = at(event);
    return /** @type {[number, number]} */ (x < anchor ? [x, anchor] : [anchor, x]);
  };
  over.addEventListener(
    'pointerdown',
    (event) => {
      if (event.button !== 0) return;
      over.setPointerCapture(event.pointerId);
      drag = { anchor: drags.anchor(at(event)), began: event.clientX };
    },
    { signal },
  );
  over.addEventListener('pointermove', (event) => drag && drags.show(...ends(event, drag.anchor)), { signal });
  over.addEventListener(
    'pointerup',
    (event) => {
      const done = drag;
      drag = null;
      drags.end();
      if (!done) return;
      if (Math.abs(event.clientX - done.began) >= LEAST) drags.choose(...ends(event, done.anchor));
      else drags.click(at(event));
    },
    { signal },
  );
  over.addEventListener(
    'pointercancel',
    () => {
      drag = null;
      drags.end();
    },
    { signal },
  );
}
