// Program with known hot functions, profiled by @google-cloud/profiler.
// node main.js HOST:PORT PROJECT, with GOOGLE_APPLICATION_CREDENTIALS.
const profiler = require('@google-cloud/profiler');

const [apiEndpoint, projectId] = process.argv.slice(2);

const retained = [];
let sum = 0;

function hotLoop() {
  const end = Date.now() + 100;
  while (Date.now() < end) {
    for (let i = 0; i < 100_000; i++) {
      sum += Math.sqrt(i) * Math.sin(i);
    }
  }
}

function keepMemory() {
  if (retained.length < 40) {
    retained.push(Array.from({ length: 50_000 }, (_, i) => ({ number: i + sum })));
  }
}

profiler
  .start({
    apiEndpoint,
    projectId,
    zone: 'zone-1',
    instance: 'instance-1',
    serviceContext: { service: 'node-shop', version: '1.0' },
    logLevel: 4,
  })
  .then(() =>
    setInterval(() => {
      hotLoop();
      keepMemory();
    }, 120),
  );
