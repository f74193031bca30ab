/** Pinned tooltip: stays open, and can be pointed at, until the pointer moves away from it. */

export class Pin {
  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
    this.on = false;
    this.away = Infinity; // the pointer's last distance from the tooltip in pixels
  }

  /** @param {boolean} on */
  set(on) {
    this.on = on;
    this.box.classList.toggle('pinned', on);
    this.away = Infinity;
  }

  /**
   * Return whether the pointer moves towards a pinned tooltip, or is in it.
   * @param {MouseEvent} event
   */
  approaches(event) {
    if (!this.on) return false;
    const box = this.box.getBoundingClientRect();
    const x = Math.max(box.left - event.clientX, 0, event.clientX - box.right);
    const y = Math.max(box.top - event.clientY, 0, event.clientY - box.bottom);
    const away = Math.hypot(x, y);
    const nearer = away <= this.away;
    this.away = away;
    return nearer;
  }
}
