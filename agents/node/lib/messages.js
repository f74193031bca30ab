'use strict';

/** @typedef {import("../index").ProfileType} ProfileType */

/**
 * @typedef {object} Assignment capture request of the server
 * @property {string} name
 * @property {ProfileType} type
 * @property {number} duration seconds
 */

const PROFILE_NAME_PATTERN = /^projects\/[A-Za-z0-9_.:~-]{1,256}\/profiles\/[A-Za-z0-9_.:~=-]{1,1024}$/;
const DURATION_PATTERN = /^\d{1,9}(\.\d{1,9})?s$/;
const MAX_CAPTURE_SECONDS = 120;

/** Error response; status 409 means that no profile is requested now. */
class ErrorResponse extends Error {
  /**
   * @param {number} status
   * @param {string} text
   * @param {number | null} retryAfter seconds; null if the response has no delay
   */
  constructor(status, text, retryAfter) {
    super(`${status} ${text}`.trim());
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/**
 * Decode the Profile in a response to CreateProfile. Throw if it is invalid.
 *
 * @param {string} body
 * @param {ProfileType[]} offered
 * @returns {Assignment}
 */
function readAssignment(body, offered) {
  const message = parseObject(body);
  if (typeof message?.name !== 'string' || !PROFILE_NAME_PATTERN.test(message.name)) {
    throw new Error('invalid response: no profile name');
  }
  if (!offered.includes(message.profileType)) {
    throw new Error('invalid response: a profile type that was not offered');
  }
  const duration = parseSeconds(message.duration);
  if (duration === null || duration > MAX_CAPTURE_SECONDS) {
    throw new Error('invalid response: no valid duration');
  }
  return { name: message.name, type: message.profileType, duration };
}

/**
 * Decode a google.rpc.Status, or any other body that a proxy may send. Never throws.
 *
 * @param {number} status
 * @param {string} body
 * @param {string | undefined} retryAfter header
 */
function readError(status, body, retryAfter) {
  const error = parseObject(body)?.error;
  const text = typeof error?.message === 'string' ? oneLine(error.message) : '';
  const details = Array.isArray(error?.details) ? error.details : [];
  const delays = details.map((/** @type {any} */ detail) => parseSeconds(detail?.retryDelay));
  const delay = delays.find((/** @type {number | null} */ each) => each !== null);
  const header = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : null;
  return new ErrorResponse(status, text, delay ?? header);
}

/**
 * @param {string} body
 * @returns {any} undefined if it is not a JSON object
 */
function parseObject(body) {
  try {
    const message = JSON.parse(body);
    return message && typeof message === 'object' ? message : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Parse google.protobuf.Duration in its JSON form, such as "10s".
 *
 * @param {unknown} text
 */
function parseSeconds(text) {
  return typeof text === 'string' && DURATION_PATTERN.test(text) ? Number(text.slice(0, -1)) : null;
}

/** @param {string} text */
function oneLine(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\x00-\x1f\x7f]+/g, ' ').slice(0, 500);
}

module.exports = { ErrorResponse, oneLine, readAssignment, readError };
