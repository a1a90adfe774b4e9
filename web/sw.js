// The page's copy for when there is no network. `v` of its address is the build that it keeps: that build's page and
// program at once, what is fetched later (the rest, a language) as it passes. With a network the newest page is shown;
// files are named by their build and never change. Other pages of the folder it leaves alone.
const build = new URL(self.location).searchParams.get('v');
const page = new URL('./', self.location).href;
const prefix = 'vram-ledger-';
const copies = () => caches.open(prefix + build);
const copyOf = async (request) => (await copies()).match(request, { ignoreVary: true });

async function install() {
  const index = await fetch(page, { cache: 'no-cache' });
  if (!(await index.clone().text()).includes(`data-build="${build}"`)) throw new Error('the page is of another build');
  const kept = await copies();
  await kept.addAll([`vram-ledger.js?v=${build}`, `vram-ledger.wasm?v=${build}`]);
  await kept.add('site.json').catch(() => {});  // where there is one
  await kept.put(page, index);
}

async function activate() {
  const old = (await caches.keys()).filter((name) => name.startsWith(prefix) && name !== prefix + build);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

async function fetched(request, keeps) {
  const response = await fetch(request);
  if (keeps && response.ok) await (await copies()).put(request, response.clone());
  return response;
}

function answer(request) {
  const url = new URL(request.url);
  const place = url.origin + url.pathname;
  const or = (first, second) => first.catch(async (error) => (await second()) ?? Promise.reject(error));
  if (request.mode === 'navigate' && (place === page || place === `${page}index.html`))
    return or(fetched(request, false), () => copyOf(page));
  if (place === `${page}site.json`) return or(fetched(request, true), () => copyOf(request));
  if (place.startsWith(page) && url.searchParams.get('v') === build)
    return copyOf(request).then((copy) => copy ?? fetched(request, true));
  return null;
}

self.addEventListener('install', (event) => event.waitUntil(install()));
self.addEventListener('activate', (event) => event.waitUntil(activate()));
self.addEventListener('fetch', (event) => {
  const response = event.request.method === 'GET' && answer(event.request);
  if (response) event.respondWith(response);
});
