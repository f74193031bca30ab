// Measure our element and d3-flame-graph on the same tree; results go to the attribute data-measured.
import '/static/flame-graph/graph/element.js';
import { select } from 'd3-selection';
import flamegraph from 'd3-flame-graph';
import { median, timed } from '/timing.js';

const TIMES = 9;
/** Return the widest frames below the first levels, as targets of zooms. */
function wide(tree, count) {
  const nodes = Array.from({ length: tree.n }, (_, i) => i).filter((i) => tree.depth[i] > 2 && tree.end[i] - i > 20);
  return nodes.sort((a, b) => tree.total[b] - tree.total[a]).slice(0, count);
}

async function ours(text) {
  const flame = document.querySelector('#ours');
  const first = await timed(() => flame.showTree(JSON.parse(text)));
  const { tree } = flame.data;
  const zooms = [];
  for (const node of wide(tree, TIMES)) zooms.push(await timed(() => flame.zoom(node)));
  await timed(() => flame.zoom(0));
  const box = flame.view.getBoundingClientRect();
  const hovers = [];
  for (let i = 0; i < 50; i++) {
    const at = { clientX: box.left + (((i * 37) % 100) / 100) * box.width, clientY: box.top + 30 + (i % 12) * 20 };
    const began = performance.now();
    flame.hover(new PointerEvent('pointermove', at));
    hovers.push(performance.now() - began);
  }
  flame.remove();
  return { first, zoom: median(zooms), hover: median(hovers) };
}

/** Return the nested objects that d3-flame-graph reads, built before its time starts. */
function nested(wire) {
  const root = { name: 'root', value: 0, children: [] };
  const open = [root];
  wire.depth.forEach((depth, i) => {
    const node = { name: wire.names[wire.frames.name[wire.frame[i]]], value: wire.self[i], children: [] };
    open[depth].children.push(node);
    open[depth + 1] = node;
    open.length = depth + 2;
  });
  return root;
}

async function theirs(text) {
  const chart = flamegraph().width(1200).selfValue(true).minFrameSize(1).transitionDuration(0);
  const target = select('#theirs').datum(nested(JSON.parse(text)));
  const first = await timed(() => target.call(chart));
  const frames = select('#theirs')
    .selectAll('.d3-flame-graph g.frame')
    .data()
    .filter((d) => d.depth > 2 && d.children)
    .sort((a, b) => b.value - a.value)
    .slice(0, TIMES);
  const zooms = [];
  for (const frame of frames) zooms.push(await timed(() => chart.zoomTo(frame)));
  document.querySelector('#theirs').replaceChildren();
  return { first, zoom: median(zooms), hover: null };
}

const text = await (await fetch('/tree.json')).text();
const theirsToo = new URLSearchParams(location.search).has('peer');
await ours(
  '{"names":["a"],"files":[""],"frames":{"name":[0],"file":[0]},"frame":[0],"depth":[0],"self":[1],"service":"s","type":"CPU","metric":{"name":"cpu","unit":"nanoseconds"},"profiles":1,"folded":{"at":[],"count":[],"total":[]}}',
).catch(() => null);
document.body.insertAdjacentHTML(
  'afterbegin',
  '<flame-graph class="fg" id="ours"><div class="fg-view" tabindex="0"><canvas></canvas><div class="mark" hidden></div></div><div class="tip pop" hidden></div></flame-graph>',
);
const measured = { ours: await ours(text), theirs: theirsToo ? await theirs(text) : null };
document.documentElement.setAttribute('data-measured', JSON.stringify(measured));
