'use strict';

const { gzipSync } = require('node:zlib');

/**
 * @typedef {object} Frame
 * @property {string} name
 * @property {string} file
 * @property {number} line
 */

/** Builder of a pprof profile. Sums samples of equal stacks. */
class Profile {
  /** @param {[string, string][]} metrics names and units */
  constructor(metrics) {
    /** @type {Map<string, number>} */
    this.strings = new Map([['', 0]]);
    /** @type {Map<string, number>} */
    this.locations = new Map();
    /** @type {Map<string, number>} */
    this.functions = new Map();
    /** @type {Map<string, { stack: number[], values: number[] }>} */
    this.samples = new Map();
    /** @type {Buffer[]} */
    this.symbols = [];
    this.types = metrics.map(([name, unit]) => bytes(1, this.valueType(name, unit)));
  }

  /**
   * @param {string} name
   * @param {string} unit
   */
  valueType(name, unit) {
    return Buffer.concat([int(1, this.string(name)), int(2, this.string(unit))]);
  }

  /** @param {string} text */
  string(text) {
    const found = this.strings.get(text);
    if (found !== undefined) return found;
    this.strings.set(text, this.strings.size);
    return this.strings.size - 1;
  }

  /** @param {Frame} frame */
  location(frame) {
    const key = `${frame.name}\0${frame.file}\0${frame.line}`;
    const found = this.locations.get(key);
    if (found !== undefined) return found;
    const id = this.locations.size + 1;
    this.locations.set(key, id);
    const line = Buffer.concat([int(1, this.function(frame)), int(2, Math.max(0, frame.line))]);
    this.symbols.push(bytes(4, Buffer.concat([int(1, id), bytes(4, line)])));
    return id;
  }

  /** @param {Frame} frame */
  function(frame) {
    const key = `${frame.name}\0${frame.file}`;
    const found = this.functions.get(key);
    if (found !== undefined) return found;
    const id = this.functions.size + 1;
    this.functions.set(key, id);
    const name = this.string(frame.name);
    const fields = [int(1, id), int(2, name), int(3, name), int(4, this.string(frame.file))];
    this.symbols.push(bytes(5, Buffer.concat(fields)));
    return id;
  }

  /**
   * @param {number[]} stack location ids, leaf first
   * @param {number[]} values one for each metric
   */
  add(stack, values) {
    const key = stack.join();
    const sample = this.samples.get(key);
    if (!sample) this.samples.set(key, { stack, values: [...values] });
    else values.forEach((value, i) => (sample.values[i] += value));
  }

  /**
   * Multiply one value of all samples.
   *
   * @param {number} index of the value
   * @param {number} factor
   */
  scale(index, factor) {
    for (const { values } of this.samples.values()) values[index] = Math.round(values[index] * factor);
  }

  /**
   * Return the gzipped profile. Comments describe the agent, see the server's documentation.
   *
   * @param {{ startMs: number, durationNs: number, comments: string[] }} about
   */
  encode({ startMs, durationNs, comments }) {
    /** @type {Buffer[]} */
    const parts = [...this.types];
    for (const { stack, values } of this.samples.values()) {
      parts.push(bytes(2, Buffer.concat([encodePacked(1, stack), encodePacked(2, values)])));
    }
    parts.push(...this.symbols);
    parts.push(int(9, Math.round(startMs) * 1e6), int(10, Math.round(durationNs)));
    parts.push(...comments.map((comment) => int(13, this.string(comment))));
    for (const text of this.strings.keys()) parts.push(bytes(6, Buffer.from(text)));
    return gzipSync(Buffer.concat(parts), { level: 1 });
  }
}

/** @param {number} number an integer from 0 */
function varint(number) {
  let rest = BigInt(Math.max(0, Math.round(number)));
  const out = [];
  while (rest > 0x7fn) {
    out.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  out.push(Number(rest));
  return Buffer.from(out);
}

/**
 * @param {number} field
 * @param {number} number
 */
function int(field, number) {
  return Buffer.concat([varint(field << 3), varint(number)]);
}

/**
 * @param {number} field
 * @param {Buffer} data
 */
function bytes(field, data) {
  return Buffer.concat([varint((field << 3) | 2), varint(data.length), data]);
}

/**
 * @param {number} field
 * @param {number[]} numbers
 */
function encodePacked(field, numbers) {
  return bytes(field, Buffer.concat(numbers.map(varint)));
}

module.exports = { Profile };
