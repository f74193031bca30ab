// Wastes time in one way, with the agent started: node main.js AGENT NAME.

import crypto from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import v8 from 'node:v8';
import zlib from 'node:zlib';

const [, program, agent, name] = process.argv;
const TEXT = 'some text '.repeat(20_000);
/** @type {Map<number, object>} */
const stored = new Map();
let total = 0;

/** @type {Record<string, () => void>} */
const programs = {
  keepGarbage() {
    for (let i = 0; i < 20_000; i++) stored.set(total++ % 500_000, { next: [i] });
  },
  readFiles() {
    for (let i = 0; i < 200; i++) total += fs.readFileSync(program).length;
  },
  deriveKeys() {
    total += crypto.pbkdf2Sync('password', 'salt', 10_000, 32, 'sha256').length;
  },
  compress() {
    total += zlib.gzipSync(TEXT).length;
  },
  plainWork() {
    let sum = 0; // local: each new value of `total` is an object, which becomes garbage
    for (let i = 0; i < 200_000; i++) sum += Math.sqrt(i) % 3;
    total = sum;
  },
};

// Otherwise V8 allocates what `keepGarbage` stores among old objects in about every second run, after
// which it collects garbage for 3 to 10 % of the time instead of 45 %.
v8.setFlagsFromString('--no-allocation-site-pretenuring');
createRequire(import.meta.url)(agent).start();
setInterval(programs[name], 1);
