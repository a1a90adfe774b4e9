// The Plan view: questions, rows that become the plan, and a search that lets the page live.
import { execFileSync } from 'node:child_process';
import { equal, open, truth } from './harness.mjs';

const base = 'v=1&model=llama-3.1-70b&gpus=64&tp=8&pp=4&global_batch=512';
const program = process.env.VRAM_LEDGER;

/// Once the search has come to its end, the document's text.
async function answered(tab) {
  await tab.until(async () => (await tab.text()).includes('tried, '), 'an answer');
  await tab.settle();
  return tab.text();
}

export const cases = {
  async 'the Plan view answers, in the document as well'() {
    const tab = await open(`${base}&view=plan`);
    const text = await answered(tab);
    truth(text.includes('Fastest: '), 'no answer in the document');
    truth(text.includes('What each switch is worth'), 'no switches in the document');
    const { places } = await tab.state();
    for (const name of ['tab.plan', 'ask.fit', 'ask.replicas', 'row.1', 'limit.longest_seq', 'switch.recompute_full'])
      truth(places[name], `no ${name}`);
    equal(tab.faults, [], 'errors on the console');
    await tab.close();
  },
  async 'the page\'s rows are the command line\'s'() {
    if (!program) return;
    const tab = await open(`${base}&view=plan`);
    await answered(tab);
    await tab.click('row.1');
    const wanted = JSON.parse(execFileSync(program, ['plan', base, '--format', 'json'], { encoding: 'utf8' })).layouts[0];
    equal((await tab.report()).share, wanted.share, 'share of the first row');
    equal((await tab.report()).training.device_bytes, wanted.device_bytes, 'its memory');
    await tab.close();
  },
  async 'a row becomes the plan, and what is asked stays'() {
    const tab = await open(`${base}&mfu=0.4&question=fastest&view=plan`);
    await answered(tab);
    await tab.click('row.2');
    await tab.until(async () => {
      const hash = await tab.hash();
      return hash.includes('question=fastest') && hash.includes('view=plan') && hash.includes('mfu=0.4') && !hash.startsWith(base);
    }, 'the row in the address');
    await tab.page.goBack();
    await tab.until(async () => (await tab.report()).share.startsWith(base), 'one step back');
    await tab.close();
  },
  async 'another question is another answer'() {
    const tab = await open(`${base}&view=plan`);
    await answered(tab);
    await tab.click('ask.fewest-gpus');
    await tab.until(async () => (await tab.text()).includes('Fewest GPUs: 24 × '), 'the fewest GPUs');
    await tab.click('ask.concurrency');
    await tab.until(async () => (await tab.text()).includes('Most requests at a time: '), 'requests');
    await tab.close();
  },
  async 'the server is asked for the fastest and the cheapest beside the job'() {
    const tab = await open(`${base}&view=plan`);
    await answered(tab);
    await tab.click('ask.serve-cheapest');
    await tab.until(async () => (await tab.text()).includes('USD a million tokens on '), 'the cheapest');
    await tab.click('ask.serve-fastest');
    await tab.until(async () => /Fastest: .* a token on /.test(await tab.text()), 'the fastest');
    await tab.until(async () => (await tab.hash()).includes('question=serve-fastest'), 'the question in the link');
    await tab.click('ask.fastest');
    await tab.until(async () => /Fastest: .* on 64 × /.test(await tab.text()), 'the job again');
    await tab.close();
  },
  async 'accelerators to choose among are picked from a list and taken out by their chips'() {
    const tab = await open(`${base}&view=plan`, { height: 1000 });
    await answered(tab);
    await tab.click('field.gpus_among');
    await tab.page.keyboard.type('h200');
    await tab.settle();
    await tab.click('among.h200-sxm-141gb');
    await tab.page.keyboard.press('Escape');
    await tab.until(async () => (await tab.hash()).includes('gpus_among=h200-sxm-141gb'), 'it in the address');
    await tab.settle();
    await tab.click('among.off.h200-sxm-141gb');
    await tab.until(async () => (await tab.hash()).includes('gpus_among') === false, 'taken out');
    await tab.click('ask.replicas');
    await tab.click('field.gpus_among');
    await tab.settle();
    const all = await tab.place('among.all');
    await tab.page.mouse.click(all.x, all.y);
    await tab.page.keyboard.press('Escape');
    const told = async () => (await tab.text()).includes('Each accelerator at its best');
    for (let i = 0; i < 300 && !(await told()); i++) await tab.page.waitForTimeout(100);  // a search of thousands
    truth(await told(), 'each of them in the document');
    truth((await tab.hash()).includes('gpus_among=all'), 'all in the address');
    await tab.settle();
    truth((await tab.state()).places['gpu_row.1'], 'a row to take');
    equal(tab.faults, [], 'errors on the console');
    await tab.close();
  },
  async 'the plain form has the same list, of several'() {
    const tab = await open(`${base}&view=plan&gpus_among=h200-sxm-141gb,b200-180gb`);
    await tab.page.evaluate(() => document.getElementById('toggle').click());
    const chosen = () => tab.page.evaluate(() => Array.from(document.getElementById('plan-gpus_among').selectedOptions, (one) => one.value));
    equal((await chosen()).sort(), ['b200-180gb', 'h200-sxm-141gb'], 'chosen');
    await tab.page.evaluate(() => {
      const list = document.getElementById('plan-gpus_among');
      for (const one of list.options) one.selected = one.value === 'b200-180gb';
      list.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await tab.until(async () => (await tab.hash()).endsWith('gpus_among=b200-180gb&view=plan'), 'the choice in the address');
    await tab.close();
  },
  async 'while a long search runs, frames go on, few of them long'() {
    const kinds = 'h100-sxm5-80gb,h200-sxm-141gb,b200-180gb,h800-sxm5-80gb';
    const tab = await open(`model=deepseek-v3&gpus=2048&global_batch=15360&gpus_among=${kinds}`);
    await tab.click('tab.plan');
    await tab.until(async (state) => state.places['search.stop'] || state.search[0] > 0, 'a search');
    for (let i = 0; i < 200 && (await tab.state()).places['search.stop']; i++) await tab.page.waitForTimeout(100);
    const [slices, late] = (await tab.state()).search;
    console.log(`    ${slices} frames of the search, ${late} above 16 ms`);
    truth(slices > 20, `${slices} slices only`);
    truth(late * 2 < slices, `${late} of ${slices} frames above 16 ms`);
    await tab.close();
  },
  async 'a long search can be stopped, and begun again'() {
    const kinds = 'h100-sxm5-80gb,h200-sxm-141gb,b200-180gb,h800-sxm5-80gb';
    const tab = await open('', { drawn: false });
    await tab.page.goto(`${tab.page.url().split('#')[0]}#model=deepseek-v3&gpus=2048&global_batch=15360&gpus_among=${kinds}&view=plan`);
    await tab.page.reload();
    await tab.page.waitForFunction(() => document.body.classList.contains('drawn'), null, { timeout: 15000 });
    await tab.until(async (state) => state.places['search.stop'], 'a way to stop it');
    const at = await tab.place('search.stop');
    await tab.page.mouse.click(at.x, at.y);
    await tab.until(async (state) => state.places['search.again'], 'it has stopped');
    await tab.settle();
    await tab.close();
  },
};
