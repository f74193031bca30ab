'use strict';

const { Backoff } = require('./backoff');
const { Sampler } = require('./capture');
const { Client } = require('./client');
const { ErrorResponse, oneLine } = require('./messages');
const { Outage } = require('./outage');

/** @typedef {import("./config").Config} Config */
/** @typedef {import("./messages").Assignment} Assignment */

const PACE = 0.5; // seconds between a profile and the next handshake
const FIRST_PAUSE = 1; // seconds, at most
const UPLOAD_ATTEMPTS = 6;
const FIRST_RETRY = 2; // seconds; doubled after each attempt, unless the server sets the delay
const LONGEST_RETRIES = 600; // seconds in total
const FAILURES_OF_A_TYPE = 3; // consecutive failures after which a type is no longer offered
const ASIDE = 'The program is not affected.';

/** Loop of handshake, capture and upload until `stop`. `run` never rejects. */
class Agent {
  /** @param {Config} config */
  constructor(config) {
    this.config = config;
    this.client = new Client(config);
    this.sampler = new Sampler(config.types);
    this.stopping = new AbortController();
    this.backoff = new Backoff();
    this.lost = new Backoff();
    this.outage = new Outage(config.log);
    this.losses = new Outage(config.log);
    /** @type {Map<string, number>} */
    this.failures = new Map();
  }

  async run() {
    try {
      await this.sampler.start();
      let pause = Math.random() * FIRST_PAUSE;
      while (!(await this.sleep(pause))) {
        const types = this.types();
        if (!types.length) {
          this.config.log(`flamewatch: profiling stopped: no profile type can be captured. ${ASIDE}`);
          break;
        }
        pause = await this.round(types);
      }
    } catch (error) {
      this.config.log(`flamewatch: profiling stopped: ${formatError(error)}. ${ASIDE}`);
    } finally {
      this.client.close();
      this.sampler.stop();
    }
  }

  stop() {
    this.stopping.abort();
  }

  /** Return the types to offer: the configured ones without those that failed repeatedly. */
  types() {
    return this.config.types.filter((type) => (this.failures.get(type) ?? 0) < FAILURES_OF_A_TYPE);
  }

  /**
   * Do one handshake and serve its request. Return the pause until the next handshake in seconds.
   *
   * @param {import("../index").ProfileType[]} types
   */
  async round(types) {
    let assignment;
    try {
      assignment = await this.client.handshake(types, this.stopping.signal);
    } catch (error) {
      return this.afterError(error);
    }
    this.backoff.succeed();
    this.outage.over(this.config.url);
    let captured;
    try {
      captured = await this.sampler.capture(assignment.type, assignment.duration, async (seconds) => {
        await this.sleep(seconds);
      });
    } catch (error) {
      this.failures.set(assignment.type, (this.failures.get(assignment.type) ?? 0) + 1);
      this.lose(`capturing a ${assignment.type} profile failed`, error);
      return this.lost.next();
    }
    this.failures.delete(assignment.type);
    try {
      await this.upload({ ...assignment, duration: captured.duration }, captured.profile);
    } catch (error) {
      this.lose('profile not uploaded', error);
      return this.lost.next(readDelay(error));
    }
    this.lost.succeed();
    this.losses.forget();
    return PACE;
  }

  /**
   * Upload a profile, with retries through a short outage.
   *
   * @param {Assignment} assignment
   * @param {Buffer} profile
   */
  async upload(assignment, profile) {
    let waited = 0;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.client.upload(assignment, profile, this.stopping.signal);
      } catch (error) {
        if (!isWorthAnother(error) || attempt === UPLOAD_ATTEMPTS - 1) throw error;
        const pause = (readDelay(error) ?? FIRST_RETRY * 2 ** attempt) * (1 + 0.1 * Math.random());
        waited += pause;
        if (waited > LONGEST_RETRIES || (await this.sleep(pause))) throw error;
      }
    }
  }

  /**
   * Log the first error of each kind in an outage, and return the pause in seconds.
   *
   * @param {unknown} error
   */
  afterError(error) {
    const server = this.config.url;
    if (!(error instanceof ErrorResponse)) {
      const line = `cannot send profiles to ${server}: ${formatError(error)}`;
      return this.failed('server', line, this.backoff.next());
    }
    const { status, retryAfter } = error;
    if (status === 409) {
      this.outage.over(server);
      if (retryAfter !== null) this.backoff.succeed();
      return this.backoff.next(retryAfter);
    }
    if (status === 401 || status === 403) {
      const line = `API key rejected by ${server} (${error.message})`;
      return this.failed('key', line, this.backoff.nextLong(retryAfter));
    }
    const pause = this.backoff.next(retryAfter);
    if (status >= 500 || status === 408) {
      return this.failed('server', `cannot send profiles to ${server}: ${error.message}`, pause);
    }
    return this.failed('request', `request rejected by ${server} (${error.message})`, pause);
  }

  /**
   * @param {string} kind
   * @param {string} line
   * @param {number} pause
   */
  failed(kind, line, pause) {
    if (!this.stopping.signal.aborted) {
      this.outage.failed(kind, `${line} (retry in ${pause.toFixed(0)} s). ${ASIDE}`);
    }
    return pause;
  }

  /**
   * @param {string} event
   * @param {unknown} error
   */
  lose(event, error) {
    if (!this.stopping.signal.aborted) {
      this.losses.failed(event, `${event}: ${formatError(error)}. ${ASIDE}`);
    }
  }

  /**
   * Sleep without keeping the process alive. Return true if the agent was stopped.
   *
   * @param {number} seconds
   * @returns {Promise<boolean>}
   */
  sleep(seconds) {
    const { signal } = this.stopping;
    if (signal.aborted) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve(signal.aborted);
      };
      const timer = setTimeout(end, seconds * 1000).unref();
      signal.addEventListener('abort', end);
    });
  }
}

/**
 * Return false for permanent errors: the same bytes get the same one again.
 *
 * @param {unknown} error
 */
function isWorthAnother(error) {
  return !(error instanceof ErrorResponse) || error.status >= 500 || error.status === 408;
}

/** @param {unknown} error */
function readDelay(error) {
  return error instanceof ErrorResponse ? error.retryAfter : null;
}

/** @param {unknown} error */
function formatError(error) {
  if (!(error instanceof Error)) return oneLine(String(error));
  return oneLine(error.message || String(/** @type {any} */ (error).code ?? error.name));
}

module.exports = { Agent };
