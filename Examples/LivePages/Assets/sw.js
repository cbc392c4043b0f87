'use strict';
// Keeps the shell and the lists of the app, so that it starts without a connection. With one, pages always come from the server.
const name = 'pages';
const addressOf = request => { const { pathname, search } = new URL(request.url); return pathname + search; };

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', e => e.waitUntil(self.clients.claim()));
// Pages tell what is to be kept: their files are named by their content.
self.addEventListener('message', e => { if (e.data?.keep) e.waitUntil(keep(e.data.keep)); });

async function keep(addresses) {
  const cache = await caches.open(name);
  for (const address of addresses) {
    if (address.includes('?v=') && await cache.match(address)) continue;
    try {
      const answer = await fetch(address);
      if (answer.ok && !answer.redirected) await cache.put(address, answer);
    } catch { return; }
  }
  for (const request of await cache.keys()) if (!addresses.includes(addressOf(request))) await cache.delete(request);
}

self.addEventListener('fetch', e => {
  const { request } = e, { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin || pathname === '/events') return;
  if (request.mode === 'navigate') e.respondWith(page(request, pathname));
  else if (/\.(css|js|svg|webmanifest)$/.test(pathname)) e.respondWith(file(request));
});

async function page(request, pathname) {
  try { return await fetch(request); } catch (error) {
    const cache = await caches.open(name);
    const kept = await cache.match(pathname) ?? await cache.match('/offline');
    if (kept) return kept;
    throw error;
  }
}

async function file(request) {
  const cache = await caches.open(name), kept = await cache.match(request);
  if (kept && request.url.includes('?v=')) return kept;
  try { return await fetch(request); } catch (error) {
    if (kept) return kept;
    throw error;
  }
}
