// The pictures: what stands under the pointer is shown, and a press makes it the plan.
import { equal, open, truth } from './harness.mjs';

const base = 'v=1&model=llama-2-7b&gpus=8';

/// A point of a picture, by shares of its width and height, in CSS pixels.
async function point(tab, name, x, y = 0.5) {
  const at = await tab.place(name);
  return [Math.round(at.x + at.w * (x - 0.5)), Math.round(at.y + at.h * (y - 0.5))];
}

async function hover(tab, name, x, y = 0.5) {
  await tab.page.mouse.move(...await point(tab, name, x, y));
  await tab.settle();
  return Object.keys((await tab.state()).places).filter((place) => place.startsWith('tip.')).map((place) => place.slice(4));
}

async function press(tab, name, x, y = 0.5) {
  await tab.page.mouse.click(...await point(tab, name, x, y));
  await tab.settle();
}

export const cases = {
  async 'the pointer on memory against sequence length shows that plan\'s bill'() {
    const tab = await open(`${base}&framework=fsdp`, { height: 2000 });
    const rows = await hover(tab, 'chart.seq', 0.5);
    const { lines } = (await tab.report()).training;
    for (const line of lines.filter((each) => each.bytes >= 2 ** 30)) {
      const row = rows.find((each) => each.startsWith(`${line.label} `)) ?? '';
      const gib = line.bytes / 2 ** 30;
      truth(Math.abs(parseFloat(row.slice(line.label.length)) / gib - 1) < 0.01, `no ${line.label} of ${gib} GiB in ${rows}`);
    }
    equal((await tab.report()).share, `${base}&framework=fsdp`, 'looking changes nothing');
    await tab.close();
  },
  async 'a press on it makes that length the plan, and one step back undoes it'() {
    const tab = await open(base, { height: 2000 });
    await press(tab, 'chart.seq', 0.99);
    equal((await tab.report()).share, `${base}&seq=16384`, 'share');
    await tab.until(async () => (await tab.hash()).includes('seq=16384'), 'the address follows');
    await tab.page.goBack();
    await tab.until(async () => (await tab.report()).share === base, 'back');
    await tab.close();
  },
  async 'a finger looks with its first tap and presses with its second'() {
    const tab = await open(base, { width: 390, height: 2400, touch: true });
    const tap = async () => {
      await tab.page.touchscreen.tap(...await point(tab, 'chart.seq', 0.99));
      await tab.settle();
      return Object.keys((await tab.state()).places).some((place) => place.startsWith('tip.Total'));
    };
    truth(await tap(), 'no values');
    equal((await tab.report()).share, base, 'looking changes nothing');
    await tap();
    equal((await tab.report()).share, `${base}&seq=16384`, 'share');
    await tab.close();
  },
  async 'by keyboard: arrows move the cross-hair from point to point, Enter makes it the plan'() {
    const tab = await open(base, { height: 2000 });
    const heads = async () => Object.keys((await tab.state()).places).filter((place) => place.startsWith('tip.Total'));
    await tab.click('phase.optimizer');
    await tab.click('phase.optimizer');  // the picture of the step stands above, the next one below
    await tab.page.keyboard.press('ArrowDown');
    await tab.settle();
    const first = await heads();
    equal(first.length, 1, 'values at the plan\'s own point');
    await tab.page.keyboard.press('ArrowRight');
    await tab.settle();
    truth((await heads())[0] !== first[0], 'it did not move');
    equal((await tab.report()).share, base, 'looking changes nothing');
    await tab.page.keyboard.press('Enter');
    await tab.settle();
    truth((await tab.report()).share !== base, 'Enter changed nothing');
    await tab.close();
  },
  async 'a phase of the step is chosen, and the bill follows'() {
    const tab = await open(base, { height: 2000 });
    await tab.click('phase.optimizer');
    truth(!(await tab.state()).places['line.context'], 'the bill is still that of the fullest moment');
    await tab.click('phase.optimizer');
    truth((await tab.state()).places['line.context'], 'the bill is not back');
    await tab.close();
  },
  async 'requests against their length: values of every format, and a press picks length and format'() {
    const tab = await open('v=1&model=llama-3.1-8b&prompt=3584&view=serve', { height: 2000 });
    const { max_concurrency: most } = (await tab.report()).serving;
    const own = await hover(tab, 'chart.concurrency', 2 / 7);  // 4k of 1k to 128k
    truth(own.includes(`bf16 ${most.toLocaleString('en')}`), `no ${most} in ${own}`);
    await press(tab, 'chart.concurrency', 0.99, 0.02);
    const { share } = await tab.report();
    truth(share.includes('prompt=130560') && share.includes('kv=nvfp4'), share);
    truth((await tab.report()).serving.max_concurrency < most, 'longer requests, but not fewer');
    await tab.close();
  },
  async 'a press on a number of GPUs makes it the plan'() {
    const tab = await open(`${base}&tokens=1e12`, { height: 2000 });
    await press(tab, 'chart.gpus', 0.99);
    truth((await tab.report()).share.includes('gpus=64'), 'eight times as many');
    await tab.close();
  },
};
