// A page in a real Chromium: served from SITE, driven by mouse, keys and fingers, asked for its state.
import { chromium } from 'playwright-core';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

export const site = process.env.SITE ?? 'build/web';
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.wasm': 'application/wasm' };
const flags = ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--enable-unsafe-swiftshader'];

export function equal(is, should, what = 'value') {
  const [a, b] = [JSON.stringify(is), JSON.stringify(should)];
  if (a === b) return;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const from = Math.max(0, at - 40);  // of long values, where they part
  throw new Error(`${what}: ${a.slice(from, from + 160)}, expected ${b.slice(from, from + 160)}`);
}
export function truth(condition, what) {
  if (!condition) throw new Error(what);
}

/// What crossed the wire, by path: { bytes, gzipped }.
export const wire = {};
const packed = {};
/// Pages that tests put around ours: path -> HTML.
export const wrappers = {};

const server = createServer((request, response) => {
  const path = new URL(request.url, 'http://localhost').pathname;
  if (wrappers[path]) return response.writeHead(200, { 'Content-Type': types['.html'] }).end(wrappers[path]);
  try {
    const file = path === '/' ? '/index.html' : path;
    const body = readFileSync(join(site, file));
    packed[file] ??= gzipSync(body);
    wire[file] = { bytes: body.length, gzipped: packed[file].length };
    response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream', 'Content-Encoding': 'gzip',
      'Access-Control-Allow-Origin': '*' }).end(packed[file]);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((done) => server.listen(0, 'localhost', done));
export const origin = `http://localhost:${server.address().port}`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags });

export async function close() {
  await browser.close();
  server.close();
}

/// The page in a context of its own. `url` replaces the address made from `share`; `worker`: with its service worker.
export async function open(share = '', { width = 1280, height = 800, density = 1, scheme = 'light', touch = false, script = null, worker = false,
  url = `${origin}/${share ? '#' + share : ''}`, drawn = true } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: density, colorScheme: scheme, hasTouch: touch,
    serviceWorkers: worker ? 'allow' : 'block' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
  const page = await context.newPage();
  const tab = new Tab(page, density);
  if (script) await page.addInitScript(script);
  await page.goto(url);
  if (drawn) await tab.ready();
  return tab;
}

class Tab {
  constructor(page, density) {
    this.page = page;
    this.density = density;
    this.requests = [];
    this.faults = [];
    page.on('request', (request) => this.requests.push(request.url()));
    page.on('pageerror', (error) => this.faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.faults.push(message.text());
    });
  }
  async ready() {
    await this.page.waitForFunction(() => document.body.classList.contains('drawn'), null, { timeout: 15000 });
    await this.settle();
  }
  json(call) {
    return this.page.evaluate((name) => Module.ccall(name, 'string', [], []), call);
  }
  async state() {
    return JSON.parse(await this.json('vram_state_json'));
  }
  async report() {
    return JSON.parse(await this.json('vram_report_json'));
  }
  /// Until no frame has been drawn for a moment.
  async settle() {
    let frames = -1;
    for (let i = 0; i < 100; i++) {
      const now = (await this.state()).frames;
      if (now === frames) return;
      frames = now;
      await this.page.evaluate(() => new Promise((done) => {
        setTimeout(done, 1000);  // out of sight there are no frames
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 80)));  // however slow the machine is
      }));
    }
    throw new Error('the page never comes to rest');
  }
  /// Waits until the page says so.
  async until(condition, what) {
    for (let i = 0; i < 60; i++) {
      if (await condition(await this.state())) return;
      await this.page.waitForTimeout(50);
    }
    throw new Error(`never: ${what}; at ${this.page.url()}`);
  }
  /// Middle of a widget, in CSS pixels.
  async place(name) {
    const box = (await this.state()).places[name];
    if (!box) throw new Error(`no widget ${name} in sight`);
    const [x, y, w, h] = box.map((value) => value / this.density);
    return { x: x + w / 2, y: y + h / 2, w, h };
  }
  async hover(name) {
    const at = await this.place(name);
    await this.page.mouse.move(at.x, at.y);
    await this.settle();
  }
  async click(name) {
    const at = await this.place(name);
    await this.page.mouse.click(at.x, at.y);
    await this.settle();
  }
  async tap(name) {
    const at = await this.place(name);
    await this.page.touchscreen.tap(at.x, at.y);
    await this.settle();
  }
  /// Replaces what stands in a box, as a reader would.
  async type(name, text) {
    await this.click(name);
    await this.page.keyboard.press('Control+A');
    await this.page.keyboard.type(text);
    await this.settle();
  }
  hash() {
    return this.page.evaluate(() => location.hash.slice(1));
  }
  text() {
    return this.page.evaluate(() => document.getElementById('text').textContent);
  }
  async shot(path) {
    await this.settle();
    await this.page.screenshot({ path });
  }
  /// As another tab in front does, as far as the page can tell.
  hide(hidden = true) {
    return this.page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  }
  async close() {
    await this.page.context().close();
  }
}
