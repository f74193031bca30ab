'use strict';

/** Log throttle: one line for the first failure of each kind, and one when the outage ends. */
class Outage {
  /** @param {(line: string) => void} log */
  constructor(log) {
    this.log = log;
    /** @type {Set<string>} */
    this.kinds = new Set();
    this.since = 0;
  }

  /**
   * @param {string} kind
   * @param {string} line
   */
  failed(kind, line) {
    if (!this.kinds.size) this.since = Date.now();
    if (this.kinds.has(kind)) return;
    this.kinds.add(kind);
    this.log(`flamewatch: ${line}`);
  }

  /** End the outage without a line. */
  forget() {
    this.kinds.clear();
  }

  /** @param {string} server */
  over(server) {
    if (!this.kinds.size) return;
    this.kinds.clear();
    const seconds = Math.round((Date.now() - this.since) / 1000);
    this.log(`flamewatch: ${server} works again, after ${seconds} s.`);
  }
}

module.exports = { Outage };
