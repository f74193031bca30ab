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
  for (let i = 0; i < 4_000_000; i++) total += Math.sqrt(i) * 1.000001;
}

function allocate() {
  blocks.push(new Array(32_768).fill(total));
  if (blocks.length > 100) blocks = [];
}

flamewatch.start();
// V8 inlines callbacks into the loop of timers while there are few of them, and profiles that start later miss them.
const others = [() => {}, () => {}, () => {}, () => {}, () => {}];
const timers = [setInterval(burnCpu, 5), setInterval(allocate, 50), ...others.map((other) => setInterval(other, 5))];
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    timers.forEach(clearInterval);
    await flamewatch.stop();
    console.log('rounds', rounds); // of burnCpu; more per second of CPU time is less overhead
  });
}
