// node tests/browser/run.mjs [PART OF A NAME]: the page in a real Chromium. SITE: its folder; VRAM_LEDGER: the command line
// program whose answers it must give to the byte. One line a case, then "N passed, N failed".
import { close, wire } from './harness.mjs';
import { cases as reading } from './reading.mjs';
import { cases as editing } from './editing.mjs';
import { cases as comparing } from './comparing.mjs';
import { cases as surroundings } from './surroundings.mjs';
import { cases as planning } from './planning.mjs';
import { cases as charts } from './charts.mjs';

const wanted = process.argv[2] ?? '';
let passed = 0;
let failed = 0;
for (const [name, run] of Object.entries({ ...reading, ...editing, ...comparing, ...surroundings, ...planning, ...charts })) {
  if (!name.includes(wanted)) continue;
  try {
    await run();
    passed++;
    console.log(`ok      ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}\n        ${error.message.split('\n')[0]}`);
  }
}
await close();
for (const [file, { bytes, gzipped }] of Object.entries(wire)) console.log(`wire    ${file} ${bytes} bytes, ${gzipped} gzipped`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
