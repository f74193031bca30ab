'use strict';

const { Agent } = require('./agent');
const { read } = require('./config');

/** @type {InstanceType<typeof Agent> | undefined} */
let running;
/** @type {Promise<void>} */
let ended = Promise.resolve();

/** @param {import("../index").Settings} [settings] */
function start(settings = {}) {
  if (running) return;
  const { config, problems } = read(settings, process.env);
  if (problems.length) {
    config.log(`flamewatch: profiling is off: ${problems.join('; ')}`);
    return;
  }
  try {
    running = new Agent(config);
  } catch (error) {
    config.log(`flamewatch: profiling is off: ${error}`);
    return;
  }
  ended = running.run();
}

async function stop() {
  running?.stop();
  running = undefined;
  await ended;
}

module.exports = { start, stop };
