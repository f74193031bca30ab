'use strict';

const { readFileSync } = require('node:fs');
const inspector = require('node:inspector');
const { fileURLToPath, pathToFileURL } = require('node:url');
const { Profile } = require('./pprof');

/** @typedef {import("../index").ProfileType} ProfileType */
/** @typedef {import("./pprof").Frame} Frame */
/** @typedef {{ functionName: string, url: string, lineNumber: number }} CallFrame */

const OWN_FOLDER = `${pathToFileURL(__dirname).href}/`;
const SAMPLE_MICROSECONDS = 10_000;
const HEAP_SAMPLE_BYTES = 512 * 1024;
// V8's names for time that no JavaScript function uses.
const IDLE = '(idle)';
const ROOT = '(root)';

/**
 * Captures profiles of this thread by V8's own profilers, through an inspector session of its own:
 * debuggers and other profilers in the process are not disturbed.
 */
class Sampler {
  /** @param {ProfileType[]} types */
  constructor(types) {
    this.session = new inspector.Session();
    this.session.connect();
    this.countsHeap = types.includes('HEAP');
  }

  /** Start counting live objects; earlier ones are not in HEAP profiles. */
  async start() {
    if (this.countsHeap) await this.startHeap({});
  }

  stop() {
    this.session.disconnect();
  }

  /**
   * @param {ProfileType} type
   * @param {number} duration seconds
   * @param {(seconds: number) => Promise<void>} wait
   * @returns {Promise<{ profile: Buffer, duration: number }>} its real duration in seconds
   */
  async capture(type, duration, wait) {
    const { profile, startMs, durationNs } = await this.captured(type, duration, wait);
    const isSnapshot = type === 'HEAP';
    const comments = [`flamewatch.sampler=v8 ${process.versions.v8}`.slice(0, 50)];
    const encoded = profile.encode({ startMs, durationNs, comments });
    return { profile: encoded, duration: isSnapshot ? duration : durationNs / 1e9 };
  }

  /**
   * @param {ProfileType} type
   * @param {number} duration
   * @param {(seconds: number) => Promise<void>} wait
   * @returns {Promise<{ profile: InstanceType<typeof Profile>, startMs: number, durationNs: number }>}
   */
  async captured(type, duration, wait) {
    if (type === 'HEAP') {
      const startMs = Date.now();
      const { profile } = await this.post('HeapProfiler.getSamplingProfile');
      return { profile: heapProfile(profile.head, 'inuse_space'), startMs, durationNs: 0 };
    }
    if (type === 'HEAP_ALLOC') {
      const freed = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
      await this.startHeap(freed);
      const startMs = Date.now();
      const start = process.hrtime.bigint();
      await wait(duration);
      const durationNs = Number(process.hrtime.bigint() - start);
      const { profile } = await this.post('HeapProfiler.stopSampling');
      return { profile: heapProfile(profile.head, 'alloc_space'), startMs, durationNs };
    }
    await this.post('Profiler.enable');
    await this.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROSECONDS });
    await this.post('Profiler.start');
    const startMs = Date.now();
    const startCpuNs = threadCpuNs();
    await wait(duration);
    const endCpuNs = threadCpuNs();
    const { profile: recorded } = await this.post('Profiler.stop');
    const cpuNs = startCpuNs === null || endCpuNs === null ? null : endCpuNs - startCpuNs;
    const { profile, durationNs } = timeProfile(recorded, type, cpuNs);
    return { profile, startMs, durationNs };
  }

  /** @param {object} options */
  startHeap(options) {
    return this.post('HeapProfiler.startSampling', {
      samplingInterval: HEAP_SAMPLE_BYTES,
      ...options,
    });
  }

  /**
   * @param {string} method
   * @param {object} [parameters]
   * @returns {Promise<any>}
   */
  post(method, parameters = {}) {
    return new Promise((resolve, reject) => {
      this.session.post(method, parameters, (error, result) => {
        if (error) reject(new Error(`${method}: ${error.message}`));
        else resolve(result);
      });
    });
  }
}

/**
 * Return the CPU time of the calling thread in ns, or null where the system does not tell it.
 *
 * @returns {number | null}
 */
function threadCpuNs() {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]);
  } catch {
    // Not Linux, or a kernel without these statistics; new versions of Node.js ask the system themselves.
    const usage = /** @type {any} */ (process).threadCpuUsage?.();
    return usage ? (usage.user + usage.system) * 1000 : null;
  }
}

/**
 * Convert V8's CPU profile. A sample lasts until the next one, the last one until the end. Time
 * before the first sample of the program is that of starting the profiler, and is left out of the
 * duration. WALL has all samples; CPU leaves out those in which the thread was idle.
 *
 * V8 samples by wall time: a thread that waits for a core, or for the disk, is not idle. So the sum
 * of CPU is made that of the thread's CPU time, where it is known.
 *
 * @param {any} recorded
 * @param {ProfileType} type
 * @param {number | null} [cpuNs] CPU time of the thread during the capture
 */
function timeProfile(recorded, type, cpuNs = null) {
  const isWall = type === 'WALL';
  const profile = new Profile(
    isWall
      ? [
          ['sample', 'count'],
          ['wall', 'nanoseconds'],
        ]
      : [
          ['samples', 'count'],
          ['cpu', 'nanoseconds'],
        ],
  );
  const stacks = stacksById(profile, recorded.nodes);
  let time = recorded.startTime;
  let durationNs = 0;
  let busyNs = 0;
  recorded.samples.forEach((/** @type {number} */ node, /** @type {number} */ i) => {
    time += recorded.timeDeltas[i];
    const microseconds = Math.max(0, recorded.timeDeltas[i + 1] ?? recorded.endTime - time);
    const stack = stacks.get(node);
    if (stack || durationNs) durationNs += microseconds * 1000;
    if (stack?.length && (isWall || !stack.isIdle)) profile.add(stack, [1, microseconds * 1000]);
    if (durationNs && !stack?.isIdle) busyNs += microseconds * 1000; // the agent's own functions too
  });
  if (!isWall && cpuNs !== null && busyNs) profile.scale(1, cpuNs / busyNs);
  return { profile, durationNs };
}

/**
 * @param {InstanceType<typeof Profile>} profile
 * @param {any[]} nodes
 * @returns {Map<number, number[] & { isIdle?: boolean }>} location ids, leaf first, by node id
 */
function stacksById(profile, nodes) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stacks = new Map();
  const open = [{ node: nodes[0], stack: /** @type {number[]} */ ([]) }];
  while (open.length) {
    const { node, stack } = /** @type {{ node: any, stack: number[] }} */ (open.pop());
    if (isOwn(node.callFrame)) continue;
    const name = node.callFrame.functionName;
    /** @type {number[] & { isIdle?: boolean }} */
    const own = name === ROOT ? stack : [profile.location(buildFrame(node.callFrame)), ...stack];
    if (name === IDLE) own.isIdle = true;
    stacks.set(node.id, own);
    for (const child of node.children ?? []) open.push({ node: byId.get(child), stack: own });
  }
  return stacks;
}

/**
 * Convert V8's sampling heap profile, whose nodes have the estimated size of their objects. The
 * inspector does not tell their number.
 *
 * @param {any} head
 * @param {string} metric
 */
function heapProfile(head, metric) {
  const profile = new Profile([[metric, 'bytes']]);
  const open = [{ node: head, stack: /** @type {number[]} */ ([]) }];
  while (open.length) {
    const { node, stack } = /** @type {{ node: any, stack: number[] }} */ (open.pop());
    if (isOwn(node.callFrame)) continue;
    const name = node.callFrame.functionName;
    const own = name === ROOT ? stack : [profile.location(buildFrame(node.callFrame)), ...stack];
    if (node.selfSize > 0 && own.length) profile.add(own, [node.selfSize]);
    for (const child of node.children ?? []) open.push({ node: child, stack: own });
  }
  return profile;
}

/**
 * Return true for a function of the agent: its subtree is not the program's.
 *
 * @param {CallFrame} frame
 */
function isOwn(frame) {
  return frame.url.startsWith(OWN_FOLDER) || frame.url.startsWith(__dirname + '/');
}

/**
 * @param {CallFrame} frame
 * @returns {Frame}
 */
function buildFrame(frame) {
  const file = frame.url.startsWith('file:') ? fileURLToPath(frame.url) : frame.url;
  return { name: frame.functionName || '(anonymous)', file, line: frame.lineNumber + 1 };
}

module.exports = { Sampler, heapProfile, timeProfile };
