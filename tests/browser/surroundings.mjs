// The page in its surroundings: screens, themes, frames, fingers, idleness, lost graphics, the network.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { equal, open, origin, site, truth, wire, wrappers } from './harness.mjs';

const base = 'v=1&model=llama-2-7b&gpus=8';
const kFirstVisit = 410_000;  // bytes, gzipped

/// Colour of a pixel of what is on the screen.
async function pixel(tab, x, y) {
  const png = (await tab.page.screenshot({ clip: { x, y, width: 1, height: 1 } })).toString('base64');
  return tab.page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  }, png);
}

export const cases = {
  async 'the example of a wiki page shows three plans'() {
    wrappers['/wiki-example.html'] = readFileSync('docs/wiki-example.html', 'utf8');
    const tab = await open('', { url: `${origin}/wiki-example.html`, drawn: false });
    for (let i = 0; i < 3; i++) {
      const frame = tab.page.frameLocator('iframe').nth(i);
      await tab.page.locator('iframe').nth(i).scrollIntoViewIfNeeded();
      await frame.locator('body.drawn').waitFor({ timeout: 20000 });
      truth(/^(Fits|Serves|Tight|Does not)/.test((await frame.locator('#summary').textContent()).trim()), `frame ${i}`);
    }
    equal(tab.faults, [], 'faults');
    await tab.close();
  },
  async 'in Chinese, canvas and document speak it; English again is one press away, and fetches nothing'() {
    const english = await open(base);
    truth(!english.requests.some((url) => url.includes('zh.')), 'English fetched Chinese');
    await english.click('lang');
    await english.until(async () => (await english.text()).includes('权重'), 'Chinese after a press');
    equal(await english.hash(), `${base}&lang=zh`, 'the address');
    await english.click('lang');
    await english.until(async () => !(await english.text()).includes('权重'), 'English after another');
    equal(english.faults, [], 'faults');
    await english.close();
    const chinese = await open(`${base}&lang=zh`);
    await chinese.until(async () => (await chinese.text()).includes('权重'), 'Chinese by the link');
    equal(await chinese.page.evaluate(() => document.documentElement.lang), 'zh-CN', 'the language that the document names');
    equal((await chinese.report()).share, base, 'the report is the same');
    await chinese.close();
  },
  async 'as one file the page works from a disk, and still edits its address'() {
    const folder = mkdtempSync(join(tmpdir(), 'vram-ledger-'));
    const file = join(folder, 'vram-ledger.html');
    execFileSync('node', ['tools/single_file.mjs', site, file]);
    const tab = await open('', { url: `file://${file}#${base}` });
    equal((await tab.report()).share, base, 'the plan of the address');
    await tab.type('field.tp', '2');
    await tab.until(async () => (await tab.hash()) === `${base}&tp=2`, 'the address after an edit');
    equal(tab.requests.filter((url) => !/^(file|data):/.test(url)), [], 'requests');
    equal(tab.faults, [], 'faults');
    await tab.close();
    rmSync(folder, { recursive: true });
  },
  async 'dark and light follow the system, or the link'() {
    for (const [scheme, share, color] of [['light', base, [251, 251, 249]], ['dark', base, [20, 22, 26]],
      ['dark', `${base}&theme=light`, [251, 251, 249]], ['light', `${base}&theme=dark`, [20, 22, 26]]]) {
      const tab = await open(share, { scheme });
      equal(await pixel(tab, 600, 10), color, `${scheme} ${share}`);
      await tab.close();
    }
  },
  async 'the canvas has the screen\'s own pixels'() {
    for (const [density, width, height] of [[1, 1280, 800], [2, 800, 660], [1.25, 1000, 700]]) {
      const tab = await open(base, { density, width, height });
      const size = await tab.page.evaluate(() => [document.getElementById('canvas').width, document.getElementById('canvas').height]);
      equal(size, [Math.round(width * density), Math.round(height * density)], `canvas at ${density}`);
      await tab.type('field.tp', '2');
      equal((await tab.report()).share, `${base}&tp=2`, `mouse at ${density}`);
      await tab.close();
    }
  },
  async 'the page follows its window, also to the screen\'s full size'() {
    const tab = await open(base);
    for (const size of [{ width: 390, height: 844 }, { width: 1600, height: 900 }]) {
      await tab.page.setViewportSize(size);
      await tab.page.waitForFunction((width) => document.getElementById('canvas').width === width, size.width);
      await tab.settle();
      truth((await tab.state()).places.model, 'blank');
    }
    await tab.close();
  },
  async 'an idle page draws nothing'() {
    const tab = await open(base);
    await tab.page.waitForTimeout(1500);
    const before = (await tab.state()).frames;
    await tab.page.waitForTimeout(2000);
    equal((await tab.state()).frames, before, 'frames');
    await tab.click('field.gpus');
    await tab.page.waitForTimeout(1000);
    const typing = (await tab.state()).frames;
    await tab.page.waitForTimeout(1500);
    equal((await tab.state()).frames, typing, 'frames with the caret in a box');
    await tab.close();
  },
  async 'a hidden tab draws nothing, whatever happens in it'() {
    const tab = await open(base);
    await tab.hide();
    await tab.settle();
    const before = (await tab.state()).frames;
    await tab.page.evaluate(() => Module.ccall('vram_edited', null, ['string'], ['tp=2']));
    await tab.page.waitForTimeout(1000);
    equal((await tab.state()).frames, before, 'frames');
    equal(await tab.hash(), `${base}&tp=2`, 'the address follows all the same');
    await tab.hide(false);
    await tab.until((state) => state.frames > before, 'a frame when it is shown');
    await tab.close();
  },
  async 'a frame off the screen draws nothing until it comes into sight'() {
    wrappers['/long.html'] = `<body style="margin:0;height:5000px"><div style="height:3000px"></div>
      <iframe src="/#${base}&embed=1" style="width:640px;height:480px"></iframe>`;
    const tab = await open('', { url: `${origin}/long.html`, drawn: false });
    const frame = tab.page.frames()[1];
    const drawn = () => frame.evaluate(() => JSON.parse(Module.ccall('vram_state_json', 'string', [], [])).frames);
    await frame.waitForFunction(() => document.getElementById('report').textContent.includes('GiB'));
    await tab.page.waitForTimeout(1000);
    equal(await drawn(), 0, 'frames out of sight');
    await tab.page.locator('iframe').scrollIntoViewIfNeeded();
    await frame.waitForFunction(() => document.body.classList.contains('drawn'));
    await tab.page.mouse.wheel(0, -3000);
    await tab.page.waitForTimeout(500);
    const before = await drawn();
    await frame.evaluate(() => Module.ccall('vram_edited', null, ['string'], ['tp=2']));
    await tab.page.waitForTimeout(500);
    equal(await drawn(), before, 'frames out of sight again');
    await tab.close();
  },
  async 'once loaded it works without a network; what did not come in time is said'() {
    const tab = await open(base);
    await tab.page.mouse.move(640, 300);
    await tab.page.waitForFunction(() => Module.rest === 'here');
    await tab.page.context().setOffline(true);
    for (const view of ['serve', 'plan', 'compare', 'diagnose']) {
      await tab.click(`tab.${view}`);
      await tab.until(async () => (await tab.hash()).includes(`view=${view}`), view);
    }
    await tab.click('tab.train');
    await tab.type('field.tp', '2');
    await tab.until(async () => (await tab.hash()) === `${base}&tp=2`, 'an edit');
    equal(tab.faults, [], 'errors on the console');
    await tab.click('lang');
    await tab.until((state) => state.notices.some((notice) => notice.includes('Chinese')), 'the texts that are missing are named');
    await tab.page.context().setOffline(false);
    await tab.type('field.tp', '4');
    await tab.until(async () => (await tab.text()).includes('权重'), 'Chinese when the network is back');
    await tab.close();
  },
  async 'lost graphics leave the text, and come back'() {
    const tab = await open(base);
    await tab.page.evaluate(() => {
      window.lose = document.getElementById('canvas').getContext('webgl2').getExtension('WEBGL_lose_context');
      window.lose.loseContext();
    });
    await tab.page.waitForFunction(() => !document.body.classList.contains('drawn'));
    truth(await tab.page.locator('#report h1').isVisible(), 'the text is not visible');
    await tab.page.evaluate(() => window.lose.restoreContext());
    await tab.ready();
    await tab.page.mouse.move(640, 300);
    await tab.settle();
    await tab.type('field.tp', '2');
    equal((await tab.report()).share, `${base}&tp=2`, 'share');
    const [, , blue] = await pixel(tab, Math.round((await tab.place('copy')).x), 10);
    truth(blue > 150, 'nothing is drawn');
    await tab.close();
  },
  async 'embedded: no inputs, a link to the whole page'() {
    const tab = await open(`${base}&embed=1`, { width: 640, height: 400 });
    const { places } = await tab.state();
    truth(!places['field.tp'] && !places.copy, 'inputs are there');
    truth(places.open && places['line.weights'], 'no link or no bill');
    const [popup] = await Promise.all([tab.page.context().waitForEvent('page'), tab.click('open')]);
    await popup.waitForURL(/#/);
    equal(new URL(popup.url()).hash, `#${base}`, 'address of the whole page');
    await tab.close();
  },
  async 'in a frame the wheel belongs to the page around, until a click'() {
    wrappers['/wiki.html'] = `<body style="margin:0;height:3000px"><iframe src="/#${base}&embed=1" style="width:640px;height:480px"></iframe>`;
    const tab = await open('', { url: `${origin}/wiki.html`, drawn: false });
    const frame = tab.page.frames()[1];
    await frame.waitForFunction(() => document.body.classList.contains('drawn'));
    await tab.page.mouse.move(300, 200);
    await tab.page.mouse.wheel(0, 200);
    await tab.page.waitForFunction(() => window.scrollY > 100);
    await tab.page.evaluate(() => window.scrollTo(0, 0));
    await tab.page.mouse.click(300, 20);
    await tab.page.mouse.wheel(0, 200);
    await tab.page.waitForTimeout(300);
    equal(await tab.page.evaluate(() => window.scrollY), 0, 'scroll of the page around, after a click');
    await tab.page.keyboard.press('PageDown');
    await tab.page.waitForTimeout(200);
    equal(await tab.page.evaluate(() => window.scrollY), 0, 'scroll by keys');
    await tab.close();
  },
  async 'in a sandboxed frame of another origin it runs'() {
    wrappers['/sandbox.html'] = `<iframe sandbox="allow-scripts" src="/#${base}&embed=1" style="width:640px;height:480px"></iframe>`;
    const tab = await open('', { url: `${origin}/sandbox.html`, drawn: false });
    await tab.page.frames()[1].waitForFunction(() => document.body.classList.contains('drawn'));
    await tab.close();
  },
  async 'a finger taps and types'() {
    const tab = await open(base, { width: 1024, height: 768, density: 2, touch: true });
    await tab.tap('field.tp');
    await tab.page.waitForFunction(() => document.activeElement.id === 'typing');
    await tab.page.evaluate(() => {
      const field = document.getElementById('typing');
      field.value = '4';
      field.dispatchEvent(new InputEvent('input', { data: '4', inputType: 'insertText' }));
    });
    await tab.until(async () => (await tab.report()).share === `${base}&tp=4`, 'typed on glass');
    await tab.tap('tab.serve');
    await tab.until(async (state) => state.places['tab.train'] && (await tab.hash()).includes('view=serve'), 'the tab that was tapped');
    await tab.close();
  },
  async 'on a phone a section comes as a sheet of plain inputs, and goes'() {
    const tab = await open(base, { width: 390, height: 844, density: 2, touch: true });
    await tab.tap('section.Parallelism');
    await tab.page.locator('#plan-tp').fill('4');
    await tab.page.locator('#plan-tp').blur();
    await tab.until(async () => (await tab.report()).share === `${base}&tp=4`, 'what was typed');
    equal(await tab.page.locator('#plan fieldset:visible legend').allTextContents(), ['Parallelism'], 'sections');
    truth(!await tab.page.locator('#plan-shard').isVisible(), 'what a first look does not need');
    await tab.page.locator('#more').click();
    truth(await tab.page.locator('#plan-shard').isVisible(), 'all of them');
    await tab.page.locator('#done').click();
    truth(!await tab.page.locator('#plan-tp').isVisible(), 'the sheet stays');
    await tab.tap('model');
    await tab.page.locator('#plan-model').selectOption({ label: 'Qwen3 8B' });
    await tab.until(async () => (await tab.report()).share.includes('model=qwen3-8b'), 'the model that was picked');
    await tab.page.keyboard.press('Escape');
    truth(!await tab.page.locator('#plan-model').isVisible(), 'Escape');
    await tab.close();
  },
  async 'a finger scrolls'() {
    const tab = await open(base, { width: 390, height: 844, density: 2, touch: true });
    const top = (await tab.place('model')).y;
    const client = await tab.page.context().newCDPSession(tab.page);
    const send = (type, y) => client.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x: 200, y }] });
    await send('touchStart', 700);
    for (let y = 690; y >= 650; y -= 10) await send('touchMove', y);
    await tab.page.waitForTimeout(100);
    await send('touchEnd');
    await tab.page.waitForTimeout(600);
    await tab.settle();
    const now = (await tab.state()).places.model;
    truth(!now || (now[1] + now[3] / 2) / 2 < top - 15, 'it did not scroll');
    await tab.close();
  },
  async 'Tab leaves the canvas unless something is typed'() {
    const tab = await open(base);
    await tab.page.mouse.click(700, 500);
    await tab.page.keyboard.press('Tab');
    truth(await tab.page.evaluate(() => document.activeElement.id !== 'canvas'), 'Tab is trapped');
    await tab.close();
  },
  async 'what an organisation keeps in site.json joins the lists, and a link made with it needs it no more'() {
    wrappers['/site.json'] = JSON.stringify({ defaults: 'gpus=16', prices: { 'a100-sxm4-80gb': 1.25 },
      gpus: [{ id: 'rack-7', name: 'Rack 7', plan: 'gpu=h100-sxm5-80gb&net_bw=25' }, { id: 'broken', plan: 'tp=many' }] });
    const tab = await open('', {});
    await tab.until(async () => (await tab.report()).share === 'v=1&gpus=16', 'the defaults');
    truth((await tab.page.locator('#report').textContent()).includes("gpus[1].plan: tp: 'many'"), 'the slip is named');
    await tab.click('gpu');
    await tab.page.keyboard.type('rack');
    await tab.settle();
    await tab.click('gpu.rack-7');
    await tab.until(async () => (await tab.report()).share === 'v=1&net_bw=25&gpus=16', 'the row that was picked');
    await tab.page.evaluate(() => Module.ccall('vram_edited', null, ['string'], ['gpu=a100-sxm4-80gb']));
    await tab.until(async () => (await tab.report()).share === 'v=1&gpu=a100-sxm4-80gb&price=1.25&gpus=16', 'its price');
    await tab.close();
    const linked = await open(base);
    equal((await linked.report()).share, base, 'a link');
    delete wrappers['/site.json'];
    await linked.close();
  },
  async 'everything comes from one origin, under the content security policy'() {
    const tab = await open(base);
    await tab.click('tab.serve');
    truth(tab.requests.length >= 3, 'no requests seen');
    for (const url of tab.requests) truth(url.startsWith(origin) || url.startsWith('data:'), url);
    const policy = await tab.page.evaluate(() => document.querySelector('meta[http-equiv]').content);
    truth(policy.includes('wasm-unsafe-eval') && !policy.includes("script-src 'unsafe-inline'") && !policy.includes("'unsafe-eval'"), policy);
    equal(tab.faults, [], 'errors on the console');
    await tab.close();
  },
  async 'a first visit is light: four files, and none of the rest until the page is touched'() {
    for (const share of ['', 'v=1&model=deepseek-v3&gpus=256&tp=8&pp=8&ep=8', `${base}&embed=1`, 'v=1&model=llama-3.1-8b&lang=en&method=lora']) {
      const tab = await open(share, { drawn: false });
      await tab.page.waitForFunction(() => document.body.classList.contains('drawn'));
      await tab.page.waitForTimeout(1500);
      const files = tab.requests.filter((url) => url.startsWith(origin)).map((url) => new URL(url).pathname);
      equal(files.sort(), ['/', '/site.json', '/vram-ledger.js', '/vram-ledger.wasm'], `files of ${share}`);
      const weight = files.reduce((sum, file) => sum + wire[file === '/' ? '/index.html' : file].gzipped, 0);
      truth(weight <= kFirstVisit, `${weight} bytes`);
      await tab.page.mouse.move(640, 300);
      await tab.page.waitForFunction(() => Module.rest === 'here');
      equal(tab.faults, [], 'errors on the console');
      await tab.close();
    }
  },
  async 'without a network the page is there again after a reload, and what was fetched with it'() {
    const tab = await open(base, { worker: true });
    await tab.click('label.tp');  // fetches the rest, before the worker is there
    await tab.page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated', null, { timeout: 15000 });
    await tab.until(async () => {
      const kept = await tab.page.evaluate(async () => {
        const [name] = await caches.keys();
        return (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname);
      });
      return ['/', '/vram-ledger.js', '/vram-ledger.wasm', '/vram-ledger-rest.wasm'].every((file) => kept.includes(file));
    }, 'all that was fetched is kept');
    await tab.page.context().setOffline(true);
    for (const go of [() => tab.page.reload(), () => tab.page.goto(`${origin}/?anew#${base}&tp=2`)]) {
      await go();
      await tab.page.waitForFunction(() => document.body.classList.contains('drawn'));
      await tab.page.mouse.move(640, 300);
      await tab.page.waitForFunction(() => Module.rest === 'here');
    }
    equal((await tab.report()).share, `${base}&tp=2`, 'the plan of the address');
    await tab.click('tab.serve');
    await tab.until(async () => (await tab.text()).includes('Serves'), 'a view of the rest');
    await tab.page.context().setOffline(false);
    await tab.page.reload();
    await tab.ready();
    equal(tab.faults, [], 'faults');
    await tab.close();
  },
  async 'a newer build is shown at once, though an older one is kept'() {
    const tab = await open(base, { worker: true });
    await tab.page.waitForFunction(() => navigator.serviceWorker.controller, null, { timeout: 15000 });
    const newer = readFileSync(join(site, 'index.html'), 'utf8').replace(/data-build="[^"]*"/, 'data-build="newer"');
    wrappers['/'] = newer;
    await tab.page.reload();
    await tab.ready();
    equal(await tab.page.evaluate(() => document.documentElement.dataset.build), 'newer', 'build');
    delete wrappers['/'];
    await tab.close();
  },
  async 'where the rest cannot be fetched the page says so, and goes on when it can'() {
    const places = await open(base);
    const [share, field, label] = [await places.place('share'), await places.place('field.tp'), await places.place('label.tp')];
    await places.close();
    const tab = await open(base, { drawn: false });
    await tab.page.waitForFunction(() => document.body.classList.contains('drawn'));
    await tab.page.route('**/vram-ledger-rest.wasm*', (route) => route.abort());
    await tab.page.mouse.click(share.x, share.y);
    await tab.page.waitForFunction(() => Module.rest === 'missing');
    await tab.page.waitForFunction(() => document.getElementById('report').textContent.includes('could not be fetched'));
    await tab.page.mouse.move(label.x, label.y);
    await tab.page.waitForTimeout(600);
    await tab.page.mouse.click(field.x, field.y);
    await tab.page.keyboard.type('2');
    await tab.page.waitForFunction(() => Module.rest === 'missing');
    truth(await tab.page.evaluate(() => document.body.classList.contains('drawn')), 'the page stopped');
    await tab.page.unroute('**/vram-ledger-rest.wasm*');
    await tab.page.mouse.click(640, 700);
    await tab.page.waitForFunction(() => Module.rest === 'here');
    await tab.until((state) => state.notices.length === 0, 'it is well again');
    await tab.type('field.tp', '2');
    equal((await tab.report()).share, `${base}&tp=2`, 'an edit');
    await tab.close();
  },
  async 'a first press waits for the rest, and is not lost'() {
    const places = await open(base);
    const serve = await places.place('tab.serve');
    await places.close();
    const tab = await open(base, { drawn: false });
    await tab.page.waitForFunction(() => document.body.classList.contains('drawn'));
    await tab.page.route('**/vram-ledger-rest.wasm*', async (route) => {
      await new Promise((done) => setTimeout(done, 700));
      await route.continue();
    });
    await tab.page.mouse.click(serve.x, serve.y);
    equal(await tab.page.evaluate(() => Module.rest), 'coming', 'the rest');
    await tab.until((state) => state.places['serve.weights'], 'the view came');
    equal(tab.faults, [], 'errors on the console');
    await tab.close();
  },
  async 'ten thousand changes of the plan leave the memory as it was'() {
    const tab = await open('v=1&model=custom&params=7e9&gpus=8');
    const heap = (changes) => tab.page.evaluate((count) => {
      for (let i = 0; i < count; i++) Module.ccall('vram_edited', null, ['string'], [`micro_batch=${1 + i % 7}`]);
      return Module.HEAPU8.length;
    }, changes);
    const before = await heap(200);
    equal(await heap(10000), before, 'bytes of the program\'s memory');
    await tab.close();
  },
  async 'a screen reader has names, and the sentence that changes'() {
    const tab = await open(base);
    const canvas = tab.page.locator('#canvas');
    equal([await canvas.getAttribute('role'), await canvas.getAttribute('aria-describedby')], ['application', 'summary'], 'canvas');
    await tab.type('field.gpus', '4');
    await tab.page.waitForFunction(() => document.getElementById('summary').textContent.length > 20);
    await tab.close();
  },
  async 'by keyboard alone: a form and the text in the canvas\'s place'() {
    const tab = await open(base);
    await tab.page.keyboard.press('Tab');
    await tab.page.keyboard.press('Enter');
    const box = tab.page.locator('#plan-tp');
    await box.fill('4');
    await box.press('Enter');
    await tab.until(async () => (await tab.report()).share === `${base}&tp=4`, 'edited in the form');
    await tab.page.locator('#plan-model').selectOption('gpt2');
    await tab.until(async () => (await tab.report()).model.id === 'gpt2', 'picked in the form');
    await tab.page.locator('#plan-pp').fill('x');
    await tab.page.locator('#plan-pp').press('Enter');
    await tab.page.waitForFunction(() => document.getElementById('plan-complaint-pp').textContent !== '');
    truth(await tab.page.locator('#report h1').isVisible(), 'the text is not visible');
    await tab.page.locator('#toggle').click();
    truth(await tab.page.locator('#canvas').isVisible(), 'the canvas did not come back');
    await tab.settle();
    truth((await tab.state()).places['field.tp'], 'the canvas is blank');
    equal(tab.faults, [], 'errors on the console');
    await tab.close();
  },
  async 'printed, the text is the page'() {
    const tab = await open(base);
    await tab.page.emulateMedia({ media: 'print' });
    truth(await tab.page.locator('#report h1').isVisible(), 'the text is not printed');
    truth(!(await tab.page.locator('#canvas').isVisible()), 'the canvas is printed');
    await tab.close();
  },
};
