// node serve.mjs FOLDER PORT: a static file server for one's own machine.
import {createReadStream, statSync} from 'node:fs';
import {createServer} from 'node:http';
import {extname, join, normalize, resolve, sep} from 'node:path';

const [folder, port] = process.argv.slice(2);
const root = resolve(folder);
const types = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css',
  '.wasm': 'application/wasm', '.json': 'application/json', '.svg': 'image/svg+xml', '.png': 'image/png',
};

const server = createServer((request, response) => {
  try {
    let path = normalize(join(root, decodeURIComponent(new URL(request.url, 'http://localhost').pathname)));
    if (path !== root && !path.startsWith(root + sep)) throw new Error('outside');
    if (statSync(path).isDirectory()) path = join(path, 'index.html');
    const {size} = statSync(path);
    response.writeHead(200, {
      'Content-Type': types[extname(path)] ?? 'application/octet-stream', 'Content-Length': size,
      'Cache-Control': 'no-cache',
    });
    createReadStream(path).pipe(response);
  } catch {
    response.writeHead(404).end('not found\n');
  }
});
server.on('error', ({code}) => {
  const taken = code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be used (${code})`;
  console.error(`port ${port} ${taken}; another one: PORT=9000 sh tools/serve.sh`);
  process.exit(1);
});
server.on('listening', () => console.log(`VRAM Ledger: http://localhost:${port}/  (Ctrl+C ends it)`));
if (/^\d+$/.test(port) && Number(port) < 65536) server.listen(Number(port), 'localhost');
else server.emit('error', {code: 'no port from 0 to 65535'});
