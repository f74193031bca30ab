'use strict';

// Burns CPU time and allocates memory, with the agent started. Its settings come from the
// environment; it ends on SIGINT or SIGTERM.

const flamewatch = require('..');

/** @type {number[][]} */
let blocks = [];
let total = 0;
let rounds = 0;

function burnCpu() {
  rounds += 1;
  for (let i = 0; i < 2_000_000; i++) total += Math.sqrt(i) * 1.000001;
}

function allocate() {
  blocks.push(new Array(32_768).fill(total));
  if (blocks.length > 100) blocks = [];
}

flamewatch.start();
const timers = [setInterval(burnCpu, 10), setInterval(allocate, 5)];
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    timers.forEach(clearInterval);
    await flamewatch.stop();
    console.log('rounds', rounds); // of burnCpu; more per second of CPU time is less overhead
  });
}
