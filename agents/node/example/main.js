'use strict';

// Burns CPU time and allocates memory, with the agent started. Its settings come from the
// environment; it ends on SIGINT or SIGTERM.

const flamewatch = require('..');

/** @type {number[][]} */
let blocks = [];
let total = 0;
let rounds = 0;

function multiply() {
  rounds += 1;
  for (let i = 0; i < 20_000; i++) total += Math.sqrt(i) * 1.000001;
}

// Its loop is short, because V8's profiler misses a function whose loop was compiled while it ran
// (on-stack replacement) before the capture.
function burnCpu() {
  const end = Date.now() + 8;
  while (Date.now() < end) multiply();
}

function allocate() {
  blocks.push(new Array(32_768).fill(total));
  if (blocks.length > 100) blocks = blocks.slice(50); // never nothing: a heap profile is of one moment
}

flamewatch.start();
const timers = [setInterval(burnCpu, 5), setInterval(allocate, 50)];
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    timers.forEach(clearInterval);
    await flamewatch.stop();
    console.log('rounds', rounds); // of multiply; more per second of CPU time is less overhead
  });
}
