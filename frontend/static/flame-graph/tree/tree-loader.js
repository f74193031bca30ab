/** Loading of the tree of one graph. */

import { loadTree } from './load.js';

/** @typedef {import("./tree.js").Tree} Tree */

/**
 * @typedef {object} Receiver
 * @property {() => void} wait called once if the tree is not there within WAIT_MS
 * @property {(tree: Tree) => void} take called with a preview, if the server sends one, and with the whole tree
 * @property {(error: unknown) => void} fail called with a LoadError, or with an error that `take` threw
 */

const WAIT_MS = 150; // delay before a loading tree is announced

/** Loader of one tree at a time: a newer request, or `stop`, cancels the older one. */
export class TreeLoader {
  /** @param {Receiver} receiver */
  constructor(receiver) {
    this.receiver = receiver;
    this.request = new AbortController();
    this.source = ''; // URL of the tree that was loaded last, as a whole
    this.side = ''; // side of the focus in that tree
  }

  /**
   * Load a tree, unless it is the one that was loaded last. Nothing is called after a cancellation.
   * @param {string | null} source URL; null only cancels
   * @param {string} side callers or callees, or '' for the tree itself
   */
  async load(source, side) {
    this.stop();
    const { signal } = (this.request = new AbortController());
    if (!source || (source === this.source && side === this.side)) return;
    const slow = setTimeout(() => this.receiver.wait(), WAIT_MS);
    try {
      let tree = await loadTree(source, signal, side);
      if (signal.aborted) return;
      if (tree.preview) {
        const whole = loadTree(source, signal, side);
        this.receiver.take(tree);
        tree = await whole;
        if (signal.aborted) return;
      }
      this.source = source;
      this.side = side;
      this.receiver.take(tree);
    } catch (error) {
      if (!signal.aborted) this.receiver.fail(error);
    } finally {
      clearTimeout(slow);
    }
  }

  /** Cancel the request in progress, if there is one. */
  stop() {
    this.request.abort();
  }
}
