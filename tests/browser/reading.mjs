// What the page says of a plan it is given.
import { execFileSync } from 'node:child_process';
import { equal, open, origin, truth } from './harness.mjs';

const plan = 'v=1&model=llama-3.1-70b&gpus=64&tp=8&pp=4&seq=8192&global_batch=512&tokens=2000000000000';
const program = process.env.VRAM_LEDGER;

/// Where the command line program is at hand, its answer; else the page's own.
function answer(share, format) {
  return execFileSync(program, ['estimate', share, '--format', format], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

export const cases = {
  async 'a link opens its plan'() {
    const tab = await open(plan);
    const report = await tab.report();
    equal(report.share, plan.replace('v=1&', 'v=1&'), 'share');
    equal(report.training.stages.length, 4, 'stages');
    equal(tab.faults, [], 'errors on the console');
    const { places } = await tab.state();
    for (const name of ['model', 'gpu', 'field.tp', 'copy', 'tab.serve', 'line.weights']) truth(places[name], `no ${name}`);
    await tab.close();
  },
  async 'the query is read where there is no fragment'() {
    const tab = await open('', { url: `${origin}/?model=mistral-7b-v0.1&tp=2&gpus=2` });
    equal((await tab.report()).model.id, 'mistral-7b-v0.1', 'model');
    await tab.close();
  },
  async 'an empty address is the default plan'() {
    const tab = await open();
    equal((await tab.report()).model.id, 'llama-3.1-8b', 'model');
    await tab.close();
  },
  async 'the report is the command line\'s to the byte'() {
    if (!program) return;
    for (const share of [plan, 'model=deepseek-v3&gpus=2048&pp=16&ep=64&view=serve&serve_gpus=8', 'model=custom&params=70e9']) {
      const tab = await open(share);
      equal(await tab.json('vram_report_json'), answer(share, 'json'), share);
      await tab.close();
    }
  },
  async 'every line of the bill stands in the document as text'() {
    const tab = await open(plan);
    const text = await tab.text();
    const report = await tab.report();
    for (const line of [...report.training.lines, ...report.serving.lines]) truth(text.includes(line.label), `no ${line.label}`);
    for (const heading of ['Training', 'Serving']) truth(text.includes(heading), `no ${heading}`);
    if (program) {
      const plain = answer(plan, 'markdown').replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&nbsp;/g, ' ').replace(/&amp;/g, '&');
      const cells = plain.split(/[|\n]/).map((cell) => cell.replace(/[*`\\#]/g, '').trim()).filter((cell) => /[0-9]/.test(cell));
      truth(cells.length > 20, 'the Markdown has no figures');
      const squeezed = text.replace(/[*`\\#\s]/g, '');
      for (const cell of cells) truth(squeezed.includes(cell.replace(/^[-–] /, '').replace(/\s/g, '')), `not in the document: ${cell}`);
    }
    await tab.close();
  },
  async 'the text is written before WebGL starts'() {
    const script = () => {
      const get = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (...kind) {
        window.textAtFirst ??= document.getElementById('report').textContent;
        return get.apply(this, kind);
      };
    };
    const tab = await open(plan, { script });
    const first = await tab.page.evaluate(() => window.textAtFirst);
    truth(first.includes('Llama 3.1 70B'), 'the report came after the canvas');
    await tab.close();
  },
  async 'without WebGL the text is the page'() {
    const script = () => {
      const get = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
        return kind.startsWith('webgl') ? null : get.call(this, kind, ...rest);
      };
    };
    const tab = await open(plan, { script, drawn: false });
    await tab.page.waitForFunction(() => document.getElementById('trouble').textContent !== '');
    truth(await tab.page.locator('#report h1').isVisible(), 'the text is not visible');
    truth(!(await tab.page.locator('#canvas').isVisible()), 'the canvas covers it');
    truth((await tab.text()).includes('WebGL'), 'the reason is not said');
    await tab.page.locator('#plan-tp').fill('4');
    await tab.page.locator('#plan-tp').press('Enter');
    await tab.until(async () => (await tab.hash()).includes('tp=4'), 'the form edits the plan');
    equal(tab.faults, [], 'errors on the console');
    await tab.close();
  },
  async 'an unknown model is named, and the page stays usable'() {
    const tab = await open('model=gpt-9&tp=abc');
    const report = await tab.report();
    truth(!report.training, 'a report for an unknown model');
    const messages = report.messages.map((message) => message.key).sort();
    equal(messages, ['model', 'tp'], 'keys with messages');
    truth((await tab.text()).includes('gpt-9'), 'the document does not name it');
    equal((await tab.state()).drafts.tp, 'abc', 'what was given for tp');
    await tab.click('model');
    await tab.page.keyboard.type('llama 2 7b');
    await tab.page.keyboard.press('Enter');
    await tab.until(async () => (await tab.report()).model?.id === 'llama-2-7b', 'a model picked by search');
    await tab.close();
  },
  async 'an impossible plan says why'() {
    const tab = await open('model=llama-3.1-70b&gpus=30&tp=8&pp=4');
    equal((await tab.report()).training.verdict, 'invalid', 'verdict');
    truth((await tab.state()).places['field.gpus'], 'the page is blank');
    await tab.close();
  },
  async 'unusable input in every key never blanks the page'() {
    const tab = await open();
    const keys = await tab.page.evaluate(() => JSON.parse(Module.ccall('vram_state_json', 'string', [], [])).keys);
    truth(keys.length > 100, 'too few keys');
    for (const value of ['-1', '1e400', '%00%22%3C', 'zzz', '']) {
      const share = keys.filter((key) => key !== 'model' && key !== 'gpu').map((key) => `${key}=${value}`).join('&');
      await tab.page.evaluate((hash) => { location.hash = hash; }, share);
      await tab.settle();
      truth((await tab.state()).places.model, `blank with ${value}`);
    }
    equal(tab.faults, [], 'errors on the console');
    await tab.close();
  },
};
