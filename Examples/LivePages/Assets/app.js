'use strict';
// Pages work without this. With it forms are sent in the background, changes by others show at once, and there are keys.
{
const $ = (s, r = document) => r.querySelector(s), $$ = (s, r = document) => [...r.querySelectorAll(s)];
const data = document.body.dataset, news = $('#news'), bar = $('#offline'), list = () => $('#list');
let stream, isOpen, canShare = 'SharedWorker' in window, flashTimer, freshTimer, connectTimer, typing, loading, wanted, own = 0, swipe;

const parse = text => new DOMParser().parseFromString(text, 'text/html');
const element = html => { const t = document.createElement('template'); t.innerHTML = html; return t.content.firstElementChild; };
const isText = e => e?.matches?.('input:not([type=checkbox], [type=file]), select, textarea');
const show = (e, is) => { if (e) e.hidden = !is; };

function fade() { clearTimeout(flashTimer); flashTimer = setTimeout(() => $('#flash').replaceChildren(), 12000); }
function flash(html) { if (html) { $('#flash').innerHTML = html; fade(); } }

// Makes the old element look like the new one; what can stay stays, with focus and what is typed.
function morph(old, now) {
  if (old.nodeName !== now.nodeName) return old.replaceWith(now), now;
  if (old.nodeType !== 1) { if (old.data !== now.data) old.data = now.data; return old; }
  if (old.isEqualNode(now)) return old;
  for (const { name } of [...old.attributes]) if (!now.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of now.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const known = new Map([...old.children].filter(c => c.id).map(c => [c.id, c]));
  let at = old.firstChild;
  for (const child of [...now.childNodes]) {
    const match = child.id ? known.get(child.id) : at && !at.id && at.nodeName === child.nodeName && at;
    if (!match) { old.insertBefore(child, at); continue; }
    if (match === at) at = at.nextSibling; else old.insertBefore(match, at);
    morph(match, child);
  }
  while (at) { const next = at.nextSibling; at.remove(); at = next; }
  return old;
}

// Live

function patch(p) {
  if (!list() || p.list !== data.list) return;
  if ($('[data-found], [data-more], .empty', list())) return refreshSoon();
  const focus = document.activeElement, sections = () => $$(':scope > section', list());
  for (const id of p.gone) $('#' + id)?.remove();
  for (const i of p.goneSections) sections()[i]?.remove();
  for (const s of p.sections) list().insertBefore(element(s.html), sections()[s.index] ?? null);
  for (const r of p.rows) {
    const ul = $('ul', sections()[r.section] ?? list()), old = $('#' + r.id), now = element(r.html);
    if (!ul) return refreshSoon();
    const row = old ? morph(old, now) : now, after = r.after ? $('#' + r.after) : null;
    if (row.parentNode !== ul || row.previousElementSibling !== after) {
      ul.insertBefore(row, after ? after.nextSibling : ul.firstChild);
      row.classList.add('moved');
    }
  }
  for (const s of sections()) { const n = $('h2 span', s); if (n) n.textContent = $$('li', s).length; }
  if (focus !== document.activeElement && focus?.isConnected) focus.focus({ preventScroll: true });
  if (!$('li', list())) refreshSoon();
  if (Date.now() - own > 2000) news.textContent = `Changed by others: ${p.rows.length + p.gone.length}`;
}

function parts(p) {
  if (p.list && !data.list?.startsWith(p.list)) return;
  document.title = document.title.replace(/^(\(\d+\) )?/, p.title ? `(${p.title}) ` : '');
  for (const [id, html] of Object.entries(p.parts)) { const e = $('#' + id); if (e) morph(e, element(html)); }
}

// Events and pages are numbered, "run.number". `log` has the events after number `from`: a page that comes late is put in place
// together with those that came after it was made. While it is `behind`, the page is too old for what comes.
const at = id => { const [run, n] = (id ?? '').split('.'); return { run, n: +n }; };
const acts = { patch, parts, stale() {} };
let log = [], from = at(data.at).n, behind, here = location.pathname + location.search;

function heard(name, { lastEventId: id, data: json }) {
  const { run, n } = at(id), seen = at(data.at);
  if (name === 'stale') { data.at = id; log = []; from = n; behind = true; return refresh(); }
  if (run !== seen.run) return refreshSoon();
  if (n <= seen.n) return;
  const act = () => acts[name](JSON.parse(json));
  data.at = id;
  log.push({ n, act });
  if (log.length > 300) from = log.shift().n;
  if (!behind) act();
}

// Puts a page in place; false where what came after it is not known any more.
function take(now, put) {
  const made = at(now.body.dataset.at), seen = at(data.at), isSame = made.run === seen.run;
  if (!made.run) return put(), true;
  if (isSame && made.n < from) return false;
  const later = isSame ? log.filter(e => e.n > made.n) : [];
  put();
  if (!isSame || made.n > seen.n) { data.at = now.body.dataset.at; log = []; from = made.n; }
  behind = false;
  for (const e of later) e.act();
  return true;
}

// The tabs of a browser share one stream where they can. Others have one each, which hidden tabs close: a browser has few connections.
function connect() {
  stream = stream?.close();
  clearTimeout(connectTimer);
  if (!data.list) return;
  if (canShare) return share();
  if (document.hidden) return;
  const source = stream = new EventSource(`/events?list=${data.list}&after=${data.at}`);
  for (const name in acts) source.addEventListener(name, e => heard(name, e));
  source.onopen = () => opened(true);
  source.onerror = () => { opened(false); if (source.readyState === 2) connectTimer = setTimeout(connect, 3000 + 3000 * Math.random()); };
}
function share() {
  let worker;
  try { worker = new SharedWorker(data.stream); } catch { canShare = false; return connect(); }
  const { port } = worker;
  stream = { close() { port.onmessage = null; port.postMessage(null); } };
  port.onmessage = ({ data: m }) => { if (m.name) heard(m.name, m); else opened(m.isOpen); };
  worker.onerror = () => { canShare = false; connect(); };
  port.postMessage({ list: data.list, at: data.at });
}
function opened(is) { isOpen = is; show(bar, !is); }

// Reads the page anew, and puts its list and numbers in the place of the old ones.
async function refresh() {
  loading?.abort();
  freshTimer = clearTimeout(freshTimer);
  const mine = loading = new AbortController();
  try {
    const answer = await fetch(here, mine), now = parse(await answer.text());
    if (loading !== mine) return;
    loading = null;
    // The list is gone.
    if (answer.redirected || answer.status === 404 && list()) return location.reload();
    if (answer.ok ? take(now, () => {
      document.title = now.title;
      if (isOpen) show(bar);
      for (const e of $$('#list, [data-part]')) { const n = $('#' + e.id, now); if (n) morph(e, n); }
    }) : answer.status < 500) return answer.ok;
  } catch (e) {
    if (loading !== mine) return;
    loading = null;
    show(bar, true);
  }
  freshTimer ??= setTimeout(refresh, 2000);
}
function refreshSoon() { if (!loading) freshTimer ??= setTimeout(refresh, 150); }

async function search() {
  clearTimeout(typing);
  const q = $('#q').value.trim(), url = here = $('#search').getAttribute('action') + (q && '?q=' + encodeURIComponent(q));
  if (!await refresh()) return;
  history.replaceState(null, '', url);
  if (q) news.textContent = $('h2', list())?.textContent;
}

// Forms

// A row's button sends what is wanted, "on" or "off": the next tap wants the other.
function flip(b) {
  const is = b.ariaPressed === 'true';
  b.ariaPressed = !is;
  if (b.name !== 'i') b.name = is ? 'on' : 'off';
}

// Two requests may arrive in either order: the server ignores an older state of a row that arrives after a newer one.
const page = Math.random().toString(36).slice(2);
let sent = 0;

async function send(form, button) {
  const fields = new FormData(form, button), detail = form.closest('#detail'), row = button?.closest('#list li');
  const pressed = row && button.ariaPressed && button;
  own = Date.now();
  if (pressed) flip(pressed);
  let answer;
  try {
    answer = await fetch(button?.getAttribute('formaction') ?? form.getAttribute('action'), {
      method: 'POST', headers: { 'X-Patch': '1', 'X-Order': `${page}.${sent += 1}` },
      body: form.enctype.startsWith('multipart') ? fields : new URLSearchParams(fields) });
  } catch {
    if (pressed && await window.keepTick?.(form, button)) return;
    if (pressed) flip(pressed);
    form.dispatchEvent(new Event('input', { bubbles: true }));
    return flash('<div class="flash problem">Not saved: no connection. Try again when it is back.</div>');
  }
  own = Date.now();
  if (!answer.headers.get('content-type').includes('json')) return fill(parse(await answer.text()), detail);
  const { to, flash: message, once } = await answer.json();
  if (form.once) form.once.value = once;
  if (row || form.id === 'undo' || form.closest('#flash')) return flash(message);
  if (detail) { flash(message); return open(to); }
  if (to === location.pathname + location.search && list()) { flash(message); form.reset(); return refresh(); }
  if (message) sessionStorage.flash = message;
  location.assign(to);
}

function fill(now, place = $('main')) {
  place ??= $('main');
  const put = () => place.replaceChildren(...$('main', now).childNodes);
  if (place.id !== 'main') put();
  else if (!take(now, put)) { put(); refreshSoon(); }
  ($('[aria-invalid], [role=alert] a, .conflict button', place) ?? place).focus();
}

// A page beside the list, where there is room.
async function open(path) {
  wanted = path;
  const now = parse(await (await fetch(path)).text());
  if (wanted !== path) return;
  if (!('detail' in now.body.dataset)) return close();
  if (!$('#detail')) $('main').after(element('<aside id=detail aria-label=Details tabindex=-1></aside>'));
  document.body.classList.add('two');
  fill(now, $('#detail'));
  for (const a of $$('#list a')) a.toggleAttribute('aria-current', a.pathname + a.search === path);
}
function close() { wanted = null; $('#detail')?.remove(); document.body.classList.remove('two'); }

addEventListener('submit', e => {
  if (e.target.id === 'search') search();
  else if (e.target.method === 'post') send(e.target, e.submitter);
  else return;
  e.preventDefault();
});
addEventListener('input', e => { if (e.target.id === 'q') { clearTimeout(typing); typing = setTimeout(search, 60); } });
addEventListener('change', e => { if (e.target.type === 'file') e.target.form.requestSubmit($('.upload', e.target.form)); });
addEventListener('click', e => {
  const a = e.target.closest('a');
  if (!a || e.ctrlKey || e.metaKey || e.shiftKey) return;
  if (a.matches('#detail .back, #detail .cancel')) close();
  else if (a.matches('#detail .beside') || a.matches('.detailed li > a') && matchMedia('(min-width: 1100px)').matches) open(a.pathname + a.search);
  else return;
  e.preventDefault();
});

// Keys and swipes

function act(path, i) {
  const form = $('#undo').cloneNode(true);
  form.setAttribute('action', path);
  if (i) form.append(element(`<input name=i value=${i}>`));
  return send(form);
}
async function remove(row) {
  const next = (row.nextElementSibling ?? row.previousElementSibling ?? row).firstElementChild;
  const off = list().dataset.remove;
  await (off ? act(off, $('button', row).value) : act($('a', row).pathname + '/delete'));
  next.focus();
}

addEventListener('keydown', e => {
  const here = document.activeElement, row = here.closest('.detailed li'), onRow = row && here.parentNode === row;
  const rows = $$('#list li > :first-child'), step = { ArrowDown: 1, ArrowUp: -1 }[e.key], isHeld = e.ctrlKey || e.metaKey;
  const run = {
    '/': () => $('#q') ? $('#q').focus() : location.assign(data.home),
    n: () => location.assign(data.new),
    '?': () => $('#keys').showModal(),
    o: row && (() => $('a', row).click()),
    Delete: onRow && (() => remove(row)),
  }[e.key];
  if (here.id === 'q' && e.key === 'Escape') { here.value = ''; search(); }
  else if (here.id === 'q' && step > 0) rows[0]?.focus();
  else if (isText(here) || $('dialog[open]')) return;
  else if (isHeld && e.key.toLowerCase() === 'z') act(e.shiftKey ? '/redo' : '/undo');
  else if (isHeld || e.altKey) return;
  else if (step && rows.length) rows[row ? Math.max(0, Math.min(rows.indexOf(row.firstElementChild) + step, rows.length - 1)) : 0].focus();
  else if (run) run();
  else return;
  e.preventDefault();
});

addEventListener('touchstart', e => {
  const { clientX: x, clientY: y } = e.touches[0];
  swipe = { x, y, by: 0, row: e.target.closest('.detailed li') };
});
addEventListener('touchmove', e => {
  const { clientX, clientY } = e.touches[0], x = clientX - swipe.x;
  swipe.by = x < -16 && Math.abs(clientY - swipe.y) < 32 ? x : 0;
  if (swipe.row) swipe.row.style.translate = swipe.by + 'px';
});
addEventListener('touchend', () => {
  if (!swipe?.row) return;
  swipe.row.style.translate = '';
  if (swipe.by < -120) remove(swipe.row);
});

const code = $('[data-hash]');
if (code && location.hash) { code.value = location.hash.slice(1); history.replaceState(0, '', location.pathname); }

addEventListener('animationend', e => e.target.classList.remove('moved'));
document.addEventListener('visibilitychange', () => { if (!canShare) connect(); });
addEventListener('pagehide', () => { stream = stream?.close(); });
addEventListener('pageshow', e => { if (e.persisted) { connect(); refresh(); } });
if (sessionStorage.flash) { flash(sessionStorage.flash); sessionStorage.removeItem('flash'); } else fade();
connect();
}
