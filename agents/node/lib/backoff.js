'use strict';

const FIRST = 60; // seconds
const GROWTH = 1.3;
const LONGEST = 3600;
const LONGEST_SERVER_DELAY = 24 * 3600; // a wrong delay of the server must not end profiling

/** Counter of consecutive failures that returns the pause in seconds after each of them. */
class Backoff {
  /** @param {() => number} uniform random, from 0 to 1 */
  constructor(uniform = Math.random) {
    this.uniform = uniform;
    this.failures = 0;
  }

  succeed() {
    this.failures = 0;
  }

  /**
   * Return the server's delay or slightly more; without one a random time from a range that grows
   * with each failure, so that a restarting server is not overloaded.
   *
   * @param {number | null} serverDelay seconds
   */
  next(serverDelay = null) {
    const range = this.range();
    this.failures += 1;
    if (serverDelay === null) return this.uniform() * range;
    return Math.min(serverDelay, LONGEST_SERVER_DELAY) * (1 + 0.1 * this.uniform());
  }

  /**
   * Return a pause for errors that waiting does not cure, such as a rejected key.
   *
   * @param {number | null} serverDelay seconds
   */
  nextLong(serverDelay = null) {
    const range = this.range();
    return Math.max(this.next(serverDelay), (range / 2) * (1 + this.uniform()));
  }

  range() {
    return Math.min(LONGEST, FIRST * GROWTH ** Math.min(this.failures, 64));
  }
}

module.exports = { Backoff };
