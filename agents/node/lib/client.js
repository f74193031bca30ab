'use strict';

const { randomUUID } = require('node:crypto');
const http = require('node:http');
const https = require('node:https');
const os = require('node:os');
const { OWN_PROJECT } = require('./config');
const { readAssignment, readError } = require('./messages');

/** @typedef {import("./config").Config} Config */
/** @typedef {import("./messages").Assignment} Assignment */
/** @typedef {import("../index").ProfileType} ProfileType */

const VERSION = /** @type {string} */ (require('../package.json').version);
const PARKED_MS = 120_000; // servers park a handshake for about 50 s
const UPLOAD_MS = 60_000;
const MAX_RESPONSE_BYTES = 1 << 20;

/** Client of the two API calls of an agent. It never keeps the process alive. */
class Client {
  /** @param {Config} config */
  constructor(config) {
    this.config = config;
    this.host =
      os
        .hostname()
        .replace(/[^!-~]+/g, '-')
        .slice(0, 255) || 'unknown';
    this.id = randomUUID();
    this.transport = config.url.startsWith('https:') ? https : http;
    this.connections = new this.transport.Agent({ keepAlive: true, maxSockets: 1 });
  }

  /**
   * Offer types and wait for a capture request. Throw ErrorResponse for an error status.
   *
   * @param {ProfileType[]} types
   * @param {AbortSignal} signal
   */
  async handshake(types, signal) {
    const message = { deployment: this.deployment(), profileType: types };
    const path = `/v2/projects/${this.config.project}/profiles`;
    return readAssignment(await this.send('POST', path, message, PARKED_MS, signal), types);
  }

  /**
   * Upload a profile (gzipped pprof). Throw ErrorResponse for an error status.
   *
   * @param {Assignment} assignment
   * @param {Buffer} profile
   * @param {AbortSignal} signal
   */
  async upload(assignment, profile, signal) {
    const message = {
      name: assignment.name,
      profileType: assignment.type,
      deployment: this.deployment(),
      duration: `${assignment.duration.toFixed(3)}s`,
      profileBytes: profile.toString('base64'),
      labels: { instance: this.host },
    };
    await this.send('PATCH', `/v2/${assignment.name}`, message, UPLOAD_MS, signal);
  }

  close() {
    this.connections.destroy();
  }

  deployment() {
    const { service, version, zone, project } = this.config;
    const labels = { language: 'nodejs', ...(version && { version }), ...(zone && { zone }) };
    return { ...(project !== OWN_PROJECT && { projectId: project }), target: service, labels };
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object} message
   * @param {number} timeout ms without a received byte
   * @param {AbortSignal} signal
   * @returns {Promise<string>}
   */
  send(method, path, message, timeout, signal) {
    const body = Buffer.from(JSON.stringify(message));
    const headers = {
      Authorization: `Bearer ${this.config.key}`,
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      'User-Agent': `flamewatch-nodejs/${VERSION}`,
      'X-Flamewatch-Agent': this.id,
      'X-Flamewatch-Host': this.host,
    };
    const options = { method, headers, timeout, signal, agent: this.connections };
    return new Promise((resolve, reject) => {
      const request = this.transport.request(this.config.url + path, options, (response) => {
        readBody(response).then((text) => {
          const status = response.statusCode ?? 0;
          if (status === 200) resolve(text);
          else reject(readError(status, text, response.headers['retry-after']));
        }, reject);
      });
      request.on('socket', (socket) => socket.unref());
      request.on('timeout', () => request.destroy(new Error('no response in time')));
      request.on('error', reject);
      request.end(body);
    });
  }
}

/**
 * @param {http.IncomingMessage} response
 * @returns {Promise<string>}
 */
async function readBody(response) {
  const parts = [];
  let size = 0;
  for await (const part of response) {
    size += part.length;
    if (size > MAX_RESPONSE_BYTES) {
      response.destroy();
      throw new Error(`the response is larger than ${MAX_RESPONSE_BYTES} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

module.exports = { Client, VERSION };
