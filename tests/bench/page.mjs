// node tests/bench/page.mjs: what a reader waits for, in a real Chromium; run by hand, beside nothing else. SITE: the
// page's folder; BARE: a folder with another page to compare with, which sets `firstFrame` when it has drawn.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { close, open, origin } from '../browser/harness.mjs';

const plans = {
  'a small model': 'v=1&model=llama-2-7b&gpus=8',
  'a mixture over 256 GPUs': 'v=1&model=deepseek-v3&gpus=256&tp=8&pp=8&ep=8',
  'a pipeline of 16 stages': 'v=1&model=llama-3.1-405b&gpus=16384&tp=8&pp=16&dp=128&seq=8192',
  'serving': 'v=1&model=llama-3.1-70b&gpus=8&tp=8&view=serve',
  'two plans': 'v=1&model=llama-2-7b&gpus=8&view=compare&vs=zero%3D3',
};
const kLoads = 15, kDrags = 200;

const sorted = (times) => [...times].sort((a, b) => a - b);
const at = (times, share) => sorted(times)[Math.min(times.length - 1, Math.floor(times.length * share))];
const told = (times, digits) => `median ${at(times, 0.5).toFixed(digits)}, 95% ${at(times, 0.95).toFixed(digits)} ms`;

/// Milliseconds from navigation to the document's first figure, and to the first frame.
async function load(share) {
  const tab = await open(share, { drawn: false, script: () => {
    window.times = {};
    new MutationObserver(() => {
      if (!times.figure && /[0-9] GiB/.test(document.getElementById('report')?.textContent)) times.figure = performance.now();
      if (!times.frame && document.body?.classList.contains('drawn')) times.frame = performance.now();
    }).observe(document, { subtree: true, childList: true, attributes: true });
  } });
  await tab.page.waitForFunction(() => times.figure && times.frame);
  const times = await tab.page.evaluate(() => times);
  await tab.close();
  return times;
}

async function loadBare(address) {
  const tab = await open('', { url: address, drawn: false });
  await tab.page.waitForFunction(() => window.firstFrame);
  const frame = await tab.page.evaluate(() => firstFrame);
  await tab.close();
  return frame;
}

/// Milliseconds of the program in each frame: at rest under a moving pointer, and while a field is dragged, where each
/// frame follows a change of the plan. One a frame of the browser's: without a pause between them they would wait for
/// the graphics, which here are software.
async function frames(share) {
  const tab = await open(share);
  await tab.page.mouse.move(640, 300);
  await tab.page.waitForFunction(() => Module.rest === 'here');
  await tab.settle();
  const times = await tab.page.evaluate(async (count) => {
    const time = (call) => {
      const from = performance.now();
      call();
      return performance.now() - from;
    };
    const edit = (i) => Module.ccall('vram_edited', null, ['string'], [`micro_batch=${1 + i % 8}`]);
    const frame = () => time(() => Module.ccall('vram_frame', null, [], []));
    const next = () => new Promise((done) => requestAnimationFrame(done));
    const still = [], edits = [], dragged = [];
    for (let i = 0; i < count; i++) {
      await next();
      Module.ccall('vram_wake', null, [], []);
      still.push(frame());
    }
    for (let i = 0; i < count; i++) {
      await next();
      edits.push(time(() => edit(i)));
      dragged.push(edits.at(-1) + frame());
    }
    return { still, edits, dragged };
  }, kDrags);
  await tab.close();
  return times;
}

function serve(folder) {
  const types = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };
  const server = createServer((request, response) => {
    const path = new URL(request.url, 'http://localhost').pathname;
    try {
      const file = path === '/' ? '/index.html' : path;
      const body = readFileSync(join(folder, file));
      response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream' }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((done) => server.listen(0, 'localhost', () => done(server)));
}

await load('');  // the browser itself starts
const loads = [], bare = [];
const other = process.env.BARE ? await serve(process.env.BARE) : null;
for (let i = 0; i < kLoads; i++) {  // in turn: both see the same machine
  loads.push(await load(''));
  if (other) bare.push(await loadBare(`http://localhost:${other.address().port}/`));
}
console.log(`first figure in the document: ${told(loads.map(({ figure }) => figure), 0)}`);
console.log(`first frame: ${told(loads.map(({ frame }) => frame), 0)}`);
if (other) console.log(`first frame of ${process.env.BARE}: ${told(bare, 0)}`);
other?.close();
for (const [name, share] of Object.entries(plans)) {
  const { still, edits, dragged } = await frames(share);
  console.log(`${name}: a frame ${told(still, 2)}; an estimate ${told(edits, 2)}; both, while dragging, ${told(dragged, 2)}`);
}
await close();
