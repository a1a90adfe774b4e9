// node tools/single_file.mjs SITE OUTPUT: the page of the folder SITE as one file that needs no server, for file:// and
// as an attachment of a wiki. The program is inlined, and the page's policy names the scripts by their hashes.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [site, output] = process.argv.slice(2);
const read = (name, encoding) => readFileSync(join(site, name), encoding);

const inlined = (name) => `Uint8Array.from(atob('${read(name, 'base64')}'), (c) => c.charCodeAt(0))`;
const languages = ['zh.txt', 'zh.otf'].filter((name) => existsSync(join(site, name)));
const wasm = `Module.wasmBinary = ${inlined('vram-ledger.wasm')};
Module.files = { ${['vram-ledger-rest.wasm', ...languages].map((name) => `'${name}': ${inlined(name)}`).join(', ')} };`;
const program = read('vram-ledger.js', 'utf8').replaceAll('</script', '<\\/script');
const hash = (script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

const linked = /<script async src="vram-ledger\.js[^"]*"><\/script>/;
const preload = /<link rel="preload" [^>]*>\n/;
const policy = /script-src 'self'/;
const page = read('index.html', 'utf8');
if (!linked.test(page) || !preload.test(page) || !policy.test(page)) throw new Error(`${site}/index.html is not the page of shell.html`);
writeFileSync(output, page
  .replace(preload, '')
  .replace(policy, `script-src ${hash(wasm)} ${hash(program)}`)
  .replace(linked, () => `<script>${wasm}</script>\n<script>${program}</script>`));
