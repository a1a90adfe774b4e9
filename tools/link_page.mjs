// node tools/link_page.mjs FOLDER FIRST-OBJECTS REST-OBJECTS FLAG...: links the page, vram-ledger.js, in two parts.
// vram-ledger-rest.wasm takes the functions and the data of the REST-OBJECTS (files that list them), what only those
// call, and the functions of libraries that tools/rest.txt names; vram-ledger.wasm keeps the others and calls the rest
// through its function table, which web/rest.js fills. The environment names the tools: CXX, NM, WASM_SPLIT, WASM_OPT.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assembled, constantOf, functionNames, importedFunctions, sections, segments, withNames, withSegmentName, withSegments } from './wasm.mjs';

const [folder, firstList, restList, ...flags] = process.argv.slice(2);
const { CXX, NM, WASM_SPLIT, WASM_OPT } = process.env;
const features = ['mutable-globals', 'bulk-memory', 'nontrapping-float-to-int', 'sign-ext'].map((name) => `--enable-${name}`);
const keepCalls = '--one-caller-inline-max-function-size=1';
const run = (tool, ...args) => execFileSync(tool, args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });
const lines = (text) => text.split('\n').filter((line) => line && !line.startsWith('#'));
const drafts = join(folder, 'parts');
const draft = (name) => join(drafts, name);
const load = (name) => sections(readFileSync(draft(name)));
const save = (name, list) => writeFileSync(draft(name), assembled(list));

/// What object files define or need, by the letters that nm gives to kinds of symbols.
function symbols(objects, letters) {
  const found = lines(run(NM, '--demangle', ...objects)).map((line) => /^(?:[0-9a-f]+| +) ([A-Za-z]) (.+)$/.exec(line));
  return new Set(found.filter((each) => each && letters.includes(each[1])).map(([, , name]) => name));
}
const short = (index) => `f${index}`;
const shortOf = (names, name) => short([...names].find((each) => each[1] === name)[0]);
const both = (a, b) => [...a].filter((name) => b.has(name));

/// The rest as one object, its data side by side.
function joinRest() {
  run(CXX, '-r', ...lines(readFileSync(restList, 'utf8')), '-o', draft('joined.o'));
  save('rest.o', withSegmentName(load('joined.o'), 'rest'));
}
/// Without inlining of what is called once: it would mix the parts, and what is repeated packs well.
function linkWhole() {
  run(CXX, ...lines(readFileSync(firstList, 'utf8')), draft('rest.o'), ...flags, '--profiling-funcs',
    `-sBINARYEN_EXTRA_PASSES=${keepCalls}`, '-o', draft('vram-ledger.js'));
}

/// Who calls whom, and where calls come in: from outside, or through the table.
function callGraph(wasm) {
  const graph = { calls: new Map(), entries: new Set() };
  for (const line of lines(run(WASM_OPT, ...features, '--print-call-graph', wasm, '-o', '/dev/null'))) {
    const [, from, , to, style] = /^ {2}"(f\d+)"( -> "([^"]+)"; \/\/ call)?(.*)$/.exec(line) ?? [];
    if (!from) continue;
    if (!graph.calls.has(from)) graph.calls.set(from, []);
    if (to) graph.calls.get(from).push(to);
    else if (/gray|rounded/.test(style)) graph.entries.add(from);
  }
  return graph;
}
/// Everything that is reached without entering what is barred.
function reached({ calls, entries }, barred) {
  const seen = new Set();
  for (const open = [...entries]; open.length;) {
    const name = open.pop();
    if (seen.has(name) || barred(name)) continue;
    seen.add(name);
    open.push(...(calls.get(name) ?? []));
  }
  return seen;
}

/// Functions for the rest, by their short names; `names` by number.
function chosen(names) {
  const first = symbols(lines(readFileSync(firstList, 'utf8')), 'TtWw');
  const rest = symbols([draft('rest.o')], 'Tt');  // others are of templates, which libraries have too
  const named = lines(readFileSync(new URL('rest.txt', import.meta.url), 'utf8')), patterns = new RegExp(named.join('|'));
  const stale = named.filter((each) => {
    const pattern = new RegExp(each);
    return ![...names.values()].some((name) => pattern.test(name));
  });
  if (stale.length) console.warn(`tools/rest.txt: no function has a name like ${stale.join(', ')}`);
  const plain = (name) => name.replace(/\.\d+$/, '');  // of several functions of one name
  const isLate = (name) => (rest.has(plain(name)) && !first.has(plain(name))) || patterns.test(name);
  const graph = callGraph(draft('short.wasm'));
  const atStart = both(new Set(graph.calls.get(shortOf(names, '__wasm_call_ctors'))), new Set([...names.keys()].filter((index) => isLate(names.get(index))).map(short)));
  if (atStart.length) throw new Error(`the rest has globals that are made at the start: ${atStart.map((each) => names.get(Number(each.slice(1))))}`);
  const kept = reached(graph, (name) => isLate(names.get(Number(name.slice(1)))));
  return [...graph.calls.keys()].filter((name) => !kept.has(name));
}

/// The rest's data go with its functions: nothing else knows where they are.
function moveData(names, imports) {
  const needed = both(symbols(lines(readFileSync(firstList, 'utf8')), 'U'), symbols([draft('rest.o')], 'DdBbRr'));
  if (needed.length) throw new Error(`the first part needs data of the rest: ${needed}`);
  const whole = load('vram-ledger.wasm');
  const edge = (name) => constantOf(whole, [...names].find((each) => each[1] === name)[0] - imports);
  const [start, stop] = [edge('vram_rest_start'), edge('vram_rest_stop')];
  const isLate = ({ address }) => address >= start && address < stop;
  const [first, rest] = [load('first.wasm'), load('rest.wasm')];
  const data = segments(first);
  save('first.wasm', withSegments(first, data.filter((each) => !isLate(each))));
  save('rest.wasm', withSegments(rest, data.filter(isLate)));
}

mkdirSync(drafts, { recursive: true });
joinRest();
linkWhole();
const whole = load('vram-ledger.wasm');
const names = functionNames(whole);
const imports = importedFunctions(whole);
save('short.wasm', withNames(whole, new Map([...names.keys()].map((index) => [index, short(index)]))));
const late = chosen(names).filter((name) => Number(name.slice(1)) >= imports);
if (late.length < 100) throw new Error(`only ${late.length} functions for the rest`);
writeFileSync(draft('late.txt'), late.join('\n') + '\n');
run(WASM_SPLIT, ...features, '-g', draft('short.wasm'), `--split-funcs=@${draft('late.txt')}`, '-o1', draft('first.wasm'), '-o2', draft('rest.wasm'));
moveData(names, imports);
// Of the first part the smallest functions go into their callers: an estimate then takes half the time, and the part
// weighs a hundredth more.
for (const [part, output, smallest] of [['first', 'vram-ledger.wasm', 8], ['rest', 'vram-ledger-rest.wasm', 2]])
  run(WASM_OPT, ...features, '-Oz', keepCalls, `--always-inline-max-function-size=${smallest}`, '--strip-debug',
    draft(`${part}.wasm`), '-o', join(folder, output));
copyFileSync(draft('vram-ledger.js'), join(folder, 'vram-ledger.js'));
if (!process.env.VRAM_KEEP) rmSync(drafts, { recursive: true });
