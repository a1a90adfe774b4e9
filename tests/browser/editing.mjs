// What the page does to the plan, and what becomes of the address.
import { readFileSync } from 'node:fs';
import { equal, open, truth } from './harness.mjs';

const base = 'v=1&model=llama-2-7b&gpus=8';

async function drop(tab, name, text) {
  await tab.page.evaluate(([file, content]) => {
    const data = new DataTransfer();
    data.items.add(new File([content], file, { type: 'application/json' }));
    document.getElementById('canvas').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [name, text]);
}

const config = JSON.stringify({ model_type: 'llama', architectures: ['LlamaForCausalLM'], hidden_size: 2048, intermediate_size: 5632,
  num_hidden_layers: 22, num_attention_heads: 32, num_key_value_heads: 4, vocab_size: 32000, max_position_embeddings: 2048,
  hidden_act: 'silu', rms_norm_eps: 1e-5, tie_word_embeddings: false, torch_dtype: 'bfloat16' });

/// Two edits of one key, and back to the first.
async function editTwiceAndGoBack(tab, press) {
  await press('field.zero.3');
  await tab.until(async () => (await tab.hash()).endsWith('zero=3'), 'first edit');
  await press('field.zero.2');
  await tab.until(async () => (await tab.hash()).endsWith('zero=2'), 'second edit');
  await tab.page.goBack();
  await tab.until(async () => (await tab.report()).share === `${base}&zero=3`, 'one step back');
}

export const cases = {
  async 'typing in a box changes plan, text and address'() {
    const tab = await open(base);
    await tab.type('field.tp', '4');
    equal((await tab.report()).share, `${base}&tp=4`, 'share');
    await tab.until(async () => (await tab.hash()) === `${base}&tp=4`, 'the address follows');
    await tab.close();
  },
  async 'fast typing loses no key'() {
    const tab = await open(base, { height: 1600 });
    await tab.click('field.tokens');
    await tab.page.keyboard.type('123456789012');
    await tab.until(async () => (await tab.hash()).endsWith('tokens=123456789012'), 'all digits');
    await tab.close();
  },
  async 'back undoes one edit at a time'() {
    const tab = await open(base);
    await editTwiceAndGoBack(tab, (name) => tab.click(name));
    await tab.page.goBack();
    await tab.until(async () => (await tab.report()).share === base, 'two steps back');
    await tab.page.goForward();
    await tab.until(async () => (await tab.report()).share === `${base}&zero=3`, 'a step forward');
    await tab.close();
  },
  async 'two taps on one key are two steps back'() {
    const tab = await open(base, { touch: true });
    await editTwiceAndGoBack(tab, (name) => tab.tap(name));
    await tab.close();
  },
  async 'typing one number is one step back'() {
    const tab = await open(base);
    await tab.type('field.gpus', '16');
    await tab.page.waitForTimeout(500);
    await tab.page.keyboard.type('0');
    await tab.until(async () => (await tab.hash()).includes('gpus=160'), 'typed');
    await tab.page.keyboard.press('Enter');
    await tab.page.goBack();
    await tab.until(async () => (await tab.report()).share === base, 'back to what it was');
    await tab.close();
  },
  async 'what an unknown name may have meant is a press away'() {
    const tab = await open('v=1&model=llama-2-7b&gpu=a100&gpus=8');
    await tab.click('fix.a100-sxm4-80gb');
    await tab.until(async () => (await tab.hash()) === 'v=1&model=llama-2-7b&gpu=a100-sxm4-80gb&gpus=8', 'the GPU meant');
    await tab.close();
  },
  async 'an unusable value stays where it was typed, with a complaint'() {
    const tab = await open(base);
    await tab.type('field.tp', '12x');
    await tab.page.keyboard.press('Enter');
    await tab.settle();
    equal((await tab.state()).drafts, { tp: '12x' }, 'drafts');
    await tab.click('field.pp');
    equal((await tab.state()).drafts, { tp: '12x' }, 'drafts after leaving the box');
    await tab.type('field.tp', '2');
    equal((await tab.state()).drafts, {}, 'drafts after a usable value');
    await tab.close();
  },
  async 'the dot brings the default back'() {
    const tab = await open(base);
    await tab.click('reset.gpus');
    equal((await tab.report()).share, 'v=1&model=llama-2-7b', 'share');
    await tab.close();
  },
  async 'a value may be written as people write it'() {
    const tab = await open(base);
    for (const [typed, value] of [['8k', 8000], ['8Ki', 8192], ['16,384', 16384]]) {
      await tab.type('field.seq', typed);
      truth((await tab.report()).share.includes(`seq=${value}`), `${typed} is not ${value}`);
    }
    await tab.close();
  },
  async 'an emptied box is the default'() {
    const tab = await open(base);
    await tab.click('field.gpus');
    await tab.page.keyboard.press('Control+A');
    await tab.page.keyboard.press('Delete');
    await tab.settle();
    equal((await tab.report()).share, 'v=1&model=llama-2-7b', 'share');
    await tab.close();
  },
  async 'models and GPUs are found by search'() {
    const tab = await open(base);
    await tab.click('model');
    await tab.page.keyboard.type('deepseek v3');
    await tab.settle();
    await tab.click('model.deepseek-v3');
    equal((await tab.report()).model.id, 'deepseek-v3', 'model');
    await tab.click('gpu');
    await tab.page.keyboard.type('mi300x');
    await tab.settle();
    await tab.page.keyboard.press('Enter');
    await tab.until(async () => (await tab.report()).hardware.id === 'mi300x-192gb', 'a GPU by Enter');
    await tab.close();
  },
  async 'a worked example opens its plan'() {
    const tab = await open(base);
    await tab.click('examples');
    await tab.page.keyboard.type('four steps');
    await tab.settle();
    await tab.page.keyboard.press('Enter');
    await tab.until(async () => (await tab.report()).serving.max_concurrency === 655, 'the 655 requests of the article');
    await tab.page.waitForFunction(() => location.hash.includes('params=80'));
    await tab.page.goBack();
    await tab.until(async () => (await tab.report()).share === base, 'back to what it was');
    await tab.close();
  },
  async 'a pasted link opens its plan'() {
    const tab = await open(base);
    await tab.page.evaluate(() => navigator.clipboard.writeText('https://elsewhere.example/x#v=1&model=gpt2&gpus=2'));
    await tab.page.keyboard.press('Control+V');
    await tab.until(async () => (await tab.report()).share === 'v=1&model=gpt2&gpus=2', 'the plan of the link');
    await tab.close();
  },
  async 'a fix applies itself'() {
    const tab = await open('model=llama-3.1-70b&gpus=32&tp=4&pp=4&seq=8192&global_batch=512');
    const before = await tab.report();
    equal(before.training.verdict, 'exceeds', 'verdict before');
    const fix = before.findings.find((finding) => finding.change && finding.saves_bytes);
    await tab.click(`fix.${fix.id}`);
    const after = await tab.report();
    equal(before.training.device_bytes - after.training.device_bytes, fix.saves_bytes, 'bytes saved');
    await tab.close();
  },
  async 'a line opens to its parts'() {
    const tab = await open(base);
    await tab.click('line.optimizer');
    const { places } = await tab.state();
    const parts = Object.keys(places).filter((name) => name.startsWith('line.optimizer/'));
    truth(parts.length > 0, 'no parts');
    await tab.close();
  },
  async 'serve view, units and theme are part of the link'() {
    const tab = await open(base);
    await tab.click('tab.serve');
    await tab.click('units');
    await tab.click('theme');
    await tab.until(async () => (await tab.hash()) === `${base}&view=serve&units=gb&theme=dark`, 'the view keys');
    truth((await tab.state()).places['field.concurrency'], 'no serving inputs');
    await tab.close();
  },
  async 'copy link puts the address on the clipboard'() {
    const tab = await open(base);
    await tab.type('field.tp', '2');
    await tab.click('copy');
    const copied = await tab.page.evaluate(() => navigator.clipboard.readText());
    truth(copied.includes(`/#${base}&tp=2&made=`), copied);
    equal((await tab.report()).share, `${base}&tp=2`, 'the plan is as it was');
    equal(await tab.hash(), `${base}&tp=2`, 'and so is its address');
    await tab.close();
  },
  async 'a link of a version that said something else tells so, until the plan is another one'() {
    const giver = await open(base);
    await giver.click('copy');
    const link = (await giver.page.evaluate(() => navigator.clipboard.readText())).split('#')[1];
    await giver.close();
    const same = await open(link);
    equal((await same.report()).messages, [], 'of one that says the same');
    equal(await same.hash(), link, 'the address stays');
    await same.close();
    const tab = await open(link.replace(/made=[^,]*,[^,]*/, 'made=0.0.9,70.0'));
    truth(/version 0\.0\.9, which said 70\.0 GiB a GPU; this version says [0-9.]+ GiB/.test(await tab.text()), await tab.text());
    await tab.click('theme');
    truth((await tab.text()).includes('0.0.9'), 'gone with the theme');
    await tab.type('field.tp', '2');
    await tab.until(async () => (await tab.hash()) === `${base}&tp=2&theme=dark`, 'the address without it');
    equal((await tab.report()).messages, [], 'messages of another plan');
    await tab.close();
  },
  async 'a number is dragged by its label, and its box counts with arrow keys and wheel'() {
    const tab = await open(base);
    const label = await tab.place('label.tp');
    await tab.page.mouse.move(label.x, label.y);
    await tab.page.mouse.down();
    for (const dx of [8, 16, 22, 30]) {
      await tab.page.mouse.move(label.x + dx, label.y);
      await tab.settle();
    }
    await tab.page.mouse.up();
    await tab.until(async () => (await tab.hash()) === `${base}&tp=4`, 'two steps to the right');
    truth((await tab.place('field.pp')).y < label.y + 50, 'a drag is no press: no help unfolds');
    await tab.page.goBack();
    await tab.until(async () => (await tab.report()).share === base, 'one drag is one step back');
    await tab.click('field.tp');
    await tab.page.keyboard.press('ArrowUp');
    await tab.until(async () => (await tab.hash()) === `${base}&tp=2`, 'a key up');
    await tab.page.mouse.wheel(0, -100);
    await tab.until(async () => (await tab.hash()) === `${base}&tp=4`, 'a notch of the wheel');
    await tab.page.keyboard.press('ArrowDown');
    await tab.page.keyboard.press('ArrowDown');
    await tab.page.keyboard.press('ArrowDown');
    await tab.until(async () => (await tab.hash()) === base, 'and no further down than one');
    await tab.page.keyboard.type('8');
    await tab.until(async () => (await tab.hash()) === `${base}&tp=8`, 'what is typed replaces what was counted');
    await tab.close();
  },
  async 'the share dialog gives a frame, Markdown, and the bill as files'() {
    const tab = await open(base);
    const clipboard = () => tab.page.evaluate(() => navigator.clipboard.readText());
    await tab.click('share');
    await tab.click('share.markdown');
    truth((await clipboard()).startsWith('# ') && (await clipboard()).includes('| Weights'), await clipboard());
    await tab.click('share.frame');
    truth((await clipboard()).includes(`/#${base}&embed=1&made=`.replaceAll('&', '&amp;')), await clipboard());
    for (const [name, file, start] of [['svg', 'vram-ledger.svg', '<svg '], ['json', 'vram-ledger.json', '{"version":1'],
      ['csv', 'vram-ledger.csv', 'bill,id,label']]) {
      const [download] = await Promise.all([tab.page.waitForEvent('download'), tab.click(`share.${name}`)]);
      equal(download.suggestedFilename(), file, 'name');
      const text = readFileSync(await download.path(), 'utf8');
      truth(text.startsWith(start), `${file}: ${text.slice(0, 40)}`);
    }
    await tab.close();
  },
  async 'a label unfolds its help'() {
    const tab = await open(base);
    const before = (await tab.place('field.pp')).y;
    await tab.click('label.tp');
    truth((await tab.place('field.pp')).y > before + 15, 'nothing unfolded');
    await tab.close();
  },
  async 'text is pasted into a box'() {
    const tab = await open(base);
    await tab.page.evaluate(() => navigator.clipboard.writeText('24'));
    await tab.click('field.gpus');
    await tab.page.keyboard.press('Control+A');
    await tab.page.keyboard.press('Control+V');
    await tab.until(async () => (await tab.report()).hardware.gpus === 24, 'pasted once');
    await tab.close();
  },
  async 'a dropped config.json is imported, and its link gives the same report'() {
    const tab = await open(`${base}&gpu=a100-sxm4-80gb`);
    await drop(tab, 'config.json', config);
    await tab.until(async () => (await tab.report()).model.parameters === 1100048384, 'TinyLlama by its config.json');
    const report = await tab.json('vram_report_json');
    equal(JSON.parse(report).hardware.id, 'a100-sxm4-80gb', 'the rest of the plan');
    await tab.until(async () => (await tab.hash()).includes('model=custom'), 'the address');
    const again = await open(await tab.hash());
    equal(await again.json('vram_report_json'), report, 'report of the link');
    await again.close();
    await tab.close();
  },
  async 'each example of the empty Diagnose view is read'() {
    for (const [name, read] of [['pytorch', 'Memory was there, and in pieces'], ['vllm', '7.62 GiB'], ['smi', 'Nothing in the log failed']]) {
      const tab = await open(`${base}&view=diagnose`);
      await tab.click(`sample.${name}`);
      await tab.until(async () => (await tab.text()).includes(read), `${read} of ${name}`);
      await tab.click('log.clear');
      await tab.until((state) => state.places[`sample.${name}`], 'cleared, the examples are back');
      equal(tab.faults, [], 'faults');
      await tab.close();
    }
  },
  async 'a pasted error is diagnosed'() {
    const tab = await open(base);
    const says = (words) => tab.page.waitForFunction((text) => document.getElementById('report').textContent.includes(text), words);
    const error = 'CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free. '
      + 'Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of the allocated memory 66.00 GiB is allocated by '
      + 'PyTorch, and 11.00 GiB is reserved by PyTorch but unallocated.';
    await tab.page.evaluate((text) => navigator.clipboard.writeText(text), error);
    await tab.page.keyboard.press('Control+V');
    await tab.until(async () => (await tab.hash()).endsWith('view=diagnose'), 'its view');
    await says('Fragmentation: 11 GiB is reserved and not allocated');
    await says('reserved unallocated');
    await tab.click('fix.expandable_segments');
    await tab.until(async () => (await tab.hash()).includes('allocator=expandable'), 'the cure is applied');
    await tab.click('log.clear');
    await says('No figure of memory was found');
    await tab.close();
  },
  async 'a pasted config.json is imported'() {
    const tab = await open(base);
    await tab.page.evaluate((text) => navigator.clipboard.writeText(text), config);
    await tab.page.keyboard.press('Control+V');
    await tab.until(async () => (await tab.report()).model.parameters === 1100048384, 'imported');
    await tab.close();
  },
  async 'a refused config.json changes nothing and says why'() {
    const tab = await open(base);
    await drop(tab, 'config.json', '{"model_type": "perceiver9000", "hidden_size": 12}');
    await tab.until((state) => state.notices.length > 1, 'a notice');
    equal((await tab.report()).model.id, 'llama-2-7b', 'model');
    truth((await tab.state()).notices.join(' ').includes('perceiver9000'), 'the architecture is not named');
    await tab.close();
  },
};
