/** Scroll position of a graph whose root may be at the bottom. */

/** Anchor that holds a root at the bottom in place while the height of the graph changes. */
export class RootAnchor {
  /** @param {HTMLElement} graph scrolled element; its attribute `flip` puts the root at the bottom */
  constructor(graph) {
    this.graph = graph;
    this.height = 0; // of the window on the graph in pixels, after the latest resizing
    this.below = 0; // pixels scrolled out below, after the latest scrolling
  }

  /** @param {AbortSignal} signal */
  watch(signal) {
    this.height = 0;
    this.graph.addEventListener('scroll', () => this.note(), { signal, passive: true });
    const resized = new ResizeObserver(() => {
      this.height = this.graph.clientHeight;
      this.restore();
    });
    resized.observe(this.graph);
    signal.addEventListener('abort', () => resized.disconnect());
  }

  /** Note the scroll position. An event that comes after a change of the height is about the scrolling before it. */
  note() {
    if (this.graph.clientHeight === this.height) this.below = this.measureBelowWindow();
  }

  /** After a change of the height, scroll a root at the bottom to where it was. */
  restore() {
    const { graph } = this;
    if (graph.hasAttribute('flip')) graph.scrollTo(0, graph.scrollTop + this.measureBelowWindow() - this.below);
  }

  /** Scroll to the same levels after the root moved to the other end. */
  mirror() {
    this.graph.scrollTo(0, this.measureBelowWindow());
  }

  /** Return the pixels of the graph that are scrolled out below. */
  measureBelowWindow() {
    const { scrollHeight, clientHeight, scrollTop } = this.graph;
    return scrollHeight - clientHeight - scrollTop;
  }
}
