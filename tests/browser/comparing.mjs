// Two plans on one page, and what is pasted.
import { equal, open, truth } from './harness.mjs';

const plan = 'v=1&model=llama-2-7b&gpus=8&framework=fsdp';

async function paste(tab, text) {
  await tab.page.evaluate((pasted) => navigator.clipboard.writeText(pasted), text);
  await tab.page.keyboard.press('Control+V');
}

async function share_with(tab, parts) {
  await tab.until(async () => {
    const { share } = await tab.report();
    return parts.every((part) => share.includes(part));
  }, parts.join(' and '));
}

export const cases = {
  async 'a plan is pinned, changed, swapped and unpinned, and the link carries both'() {
    const tab = await open(`${plan}&view=compare`);
    await tab.click('compare.pin');
    await tab.type('field.seq', '8192');
    await tab.page.keyboard.press('Enter');
    await tab.until(async () => (await tab.hash()).includes('seq=8192'), 'the edit in the address');
    truth((await tab.hash()).includes('vs='), 'the link does not carry the pinned plan');
    const { compare } = await tab.report();
    equal(compare.keys, [{ key: 'seq', value: '8192', vs_value: '4096' }], 'keys that differ');
    truth((await tab.text()).includes('Two plans compared'), 'the document does not compare');
    await tab.click('compare.swap');
    equal((await tab.report()).compare.keys, [{ key: 'seq', value: '4096', vs_value: '8192' }], 'keys after the swap');
    await tab.click('compare.key.seq');
    equal((await tab.report()).compare.keys, [], 'keys after taking the pinned value');
    await tab.click('compare.unpin');
    truth(!(await tab.report()).compare, 'still compared');
    equal(tab.faults, [], 'errors on the console');
    await tab.close();
  },
  async 'a launch command that is pasted fills the plan'() {
    const tab = await open('v=1&concurrency=8');
    await paste(tab, 'vllm serve meta-llama/Llama-3.1-70B-Instruct \\\n  --tensor-parallel-size 8 --port 8000');
    await share_with(tab, ['model=llama-3.1-70b', 'serve_gpus=8', 'concurrency=8']);
    await tab.until(async () => (await tab.hash()).includes('view=serve'), 'the serving view');
    await tab.until(async () => (await tab.text()).includes('No key says --port 8000'), 'what no key says');
    await tab.close();
  },
  async 'a DeepSpeed configuration that is pasted fills the plan'() {
    const tab = await open(plan);
    await paste(tab, '{"zero_optimization": {"stage": 2}, "bf16": {"enabled": true}, "train_micro_batch_size_per_gpu": 2}');
    await share_with(tab, ['framework=deepspeed', 'zero=2', 'micro_batch=2', 'model=llama-2-7b']);
    await tab.close();
  },
};
