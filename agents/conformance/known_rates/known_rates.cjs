'use strict';

// Prints what its functions used in total, for comparison with profiles.

const { readFileSync, writeSync } = require('node:fs');

const BLOCK_ELEMENTS = 8000;
const BLOCK_BYTES = 32 + 16 + 8 * BLOCK_ELEMENTS; // array, and header and elements of its store
const LIVE_BLOCKS = 800;
const counts = { cpu: 0, wall: 0, allocated: 0, live: 0 };
/** @type {number[][]} */
const live = [];
/** @type {number[]} */
let block = [];
let total = 0;

require('../../node').start();

function burn() {
    let sum = 0; // a module's variable would be a new object after each addition
    for (let i = 0; i < 300_000; i++) sum += Math.sqrt(i);
    total = sum;
}

function allocateSome() {
    for (let i = 0; i < 20; i++) allocate();
}

function allocate() {
    block = new Array(BLOCK_ELEMENTS);
    counts.allocated += BLOCK_BYTES;
}

function retain() {
    // Replaces a block, so that the samples of two captures are of different blocks.
    live[Math.floor(Math.random() * LIVE_BLOCKS)] = new Array(BLOCK_ELEMENTS);
    counts.allocated += BLOCK_BYTES;
}

function work() {
    burn();
    allocateSome();
    for (let i = 0; i < 20; i++) retain();
    print();
    setTimeout(work, Math.random() * 6); // never in step with a sampler
}

function print() {
    counts.cpu = Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]);
    counts.wall = Math.round(performance.now() * 1e6);
    const now = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));
    const fields = Object.entries(counts).map(([name, value]) => `${name}=${Math.round(value)}`);
    writeSync(1, `rates time=${now} ${fields.join(' ')}\n`);
}

setTimeout(() => {
    for (let i = 0; i < 20 * LIVE_BLOCKS; i++) retain();
    counts.live = live.filter(Boolean).length * BLOCK_BYTES;
    work();
}, 100); // the agent has begun to count memory
