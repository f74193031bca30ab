// Capture wall and heap profiles of work like a service's with `@datadog/pprof`, a fork of Google's
// agent. Usage: npm install @datadog/pprof && node capture.js <folder>
'use strict';

const { encode, heap, time } = require('@datadog/pprof');
const fs = require('node:fs');
const path = require('node:path');
const zlib = require('node:zlib');

const records = (count) => Array.from({ length: count }, (_, i) => ({ name: `record-${i}`, values: [i, 1 / (i + 1)] }));

function roundTrip() {
  const text = JSON.stringify(records(400));
  JSON.parse(text).sort((a, b) => a.name.localeCompare(b.name));
  zlib.gunzipSync(zlib.gzipSync(text));
}

function fibonacci(n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

const matching = () => 'alpha-12,beta-7,'.repeat(400).match(/([a-z]+)-(\d+)(,|$)/g);

function work(seconds, number) {
  const retained = [];
  const jobs = [roundTrip, () => fibonacci(20), matching, () => retained.push(records(50))];
  const end = Date.now() + seconds * 1000;
  for (let turn = 0; Date.now() < end; turn++) jobs[(turn * number + (turn >> 2)) % jobs.length]();
  return retained;
}

async function main(folder) {
  const write = async (name, profile) => fs.writeFileSync(path.join(folder, `${name}.pb.gz`), await encode(profile));
  heap.start(16 * 1024, 64);
  for (let number = 1; number <= 4; number++) {
    time.start({ durationMillis: 1000, intervalMicros: 5000 });
    const retained = work(1, number);
    await write(`node-wall-0${number}`, time.stop());
    if (number === 3) await write('node-heap', heap.profile());
    retained.length = 0;
  }
  heap.stop();
}

main(process.argv[2]);
