// Program under Pyroscope's client: node shop.cjs URL KEY SECONDS
const Pyroscope = require("@pyroscope/nodejs");

const [url, key, seconds] = process.argv.slice(2);
Pyroscope.init({
  serverAddress: url,
  appName: "shop.nodejs",
  basicAuthUser: "shop",
  basicAuthPassword: key,
  tenantID: "of-another",
  tags: { region: "eu/west 1", version: "1.4+b", hostname: "pod-1" },
  flushIntervalMs: 4000,
  wall: { collectCpuTime: true, samplingDurationMs: 4000 },
});
Pyroscope.start();

function hotFunction() {
  let total = 0;
  for (let number = 0; number < 3e6; number++) total += Math.sqrt(number);
  return total;
}

const carts = [];
const end = Date.now() + seconds * 1000;
function turn() {
  Pyroscope.wrapWithLabels({ route: "/cart" }, () => hotFunction());
  carts.push(new Array(500).fill(carts.length));
  if (Date.now() < end) setTimeout(turn, 3);
  else Pyroscope.stop().then(() => process.exit(0));
}
turn();
