'use strict';
// Everything works without this script. With it forms are sent in the background, changes by others show at once, and
// there are keys. What is in the page stays where it can: focus, scroll, what is being typed.
{
const $ = (s, r = document) => r.querySelector(s), $$ = (s, r = document) => [...r.querySelectorAll(s)];
const body = document.body, wide = matchMedia('(min-width: 1100px)');
let source, flashTimer, freshTimer, searching, own = 0;

const parse = text => new DOMParser().parseFromString(text, 'text/html');
const element = html => { const t = document.createElement('template'); t.innerHTML = html; return t.content.firstElementChild; };
const isText = e => e?.matches?.('input:not([type=checkbox],[type=file],[type=hidden]), textarea, select');

function flash(html) {
  if (!html) return;
  $('#flash').innerHTML = html;
  clearTimeout(flashTimer);
  flashTimer = setTimeout(() => $('#flash').replaceChildren(), 12000);
}
const complain = text => { flash('<div class="flash problem"><span></span></div>'); $('#flash span').textContent = text; };

// Makes the old element look like the new one; elements of one ID, and those in one place, stay.
function morph(old, now) {
  if (old.nodeName !== now.nodeName) return old.replaceWith(now), now;
  if (old.nodeType !== 1) { if (old.data !== now.data) old.data = now.data; return old; }
  if (old.isEqualNode(now)) return old;
  for (const { name } of [...old.attributes]) if (!now.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of now.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const known = new Map([...old.children].filter(c => c.id).map(c => [c.id, c]));
  let at = old.firstChild;
  for (const child of [...now.childNodes]) {
    let match = child.id ? known.get(child.id) : at && !at.id && at.nodeName === child.nodeName ? at : null;
    if (!match) { old.insertBefore(child, at); continue; }
    if (match === at) at = at.nextSibling; else old.insertBefore(match, at);
    morph(match, child);
  }
  while (at) { const next = at.nextSibling; at.remove(); at = next; }
  return old;
}

// MARK: Live

function patch(p) {
  const list = $('#list');
  if (!list) return;
  if ($('[data-found], [data-more], .empty', list)) return refreshSoon();
  const focus = document.activeElement, sections = () => $$(':scope > section', list);
  for (const id of p.gone) $('#' + id)?.remove();
  for (const i of p.goneSections) sections()[i]?.remove();
  for (const s of p.sections) list.insertBefore(element(s.html), sections()[s.index] ?? null);
  for (const r of p.rows) {
    const ul = $('ul', sections()[r.section] ?? list);
    if (!ul) return refreshSoon();
    const old = $('#' + r.id), row = old ? morph(old, element(r.html)) : element(r.html);
    const after = r.after && $('#' + r.after);
    if (row.parentNode !== ul || row.previousElementSibling !== (after || null)) {
      ul.insertBefore(row, after ? after.nextSibling : ul.firstChild);
      row.classList.add('moved');
    }
  }
  for (const s of sections()) { const n = $('h2 span', s); if (n) n.textContent = $$('li', s).length; }
  if (focus !== document.activeElement && focus?.isConnected) focus.focus({ preventScroll: true });
  if (!$('li', list)) refreshSoon();
  if (Date.now() - own > 2000) {
    const n = p.rows.length + p.gone.length;
    $('#news').textContent = n === 1 ? 'One row changed.' : n + ' rows changed.';
  }
}

function count(c) {
  const badge = $('#open'), total = c.open + c.collected, show = (e, is) => { if (e) e.hidden = !is; };
  badge.textContent = c.open;
  badge.ariaLabel = c.open + ' to buy';
  show(badge, c.open);
  document.title = document.title.replace(/^(\(\d+\) )?/, c.open ? `(${c.open}) ` : '');
  const progress = $('#progress');
  if (progress) {
    progress.max = total || 1;
    progress.value = c.collected;
    $('#done-text').textContent = `${c.collected} of ${total}`;
    show($('#done'), total);
    show($('#clear'), c.collected);
  }
  show($('a[href="/prepare/clear"]'), total);
}

function connect() {
  source?.close();
  if (!body.dataset.list) return;
  source = new EventSource(`/events?list=${body.dataset.list}&after=${body.dataset.at}`);
  const on = (name, act) => source.addEventListener(name, e => { body.dataset.at = e.lastEventId; act(JSON.parse(e.data)); });
  source.onopen = () => $('#offline').hidden = true;
  source.onerror = () => {
    $('#offline').hidden = false;
    if (source.readyState === 2) setTimeout(connect, 3000);
  };
  on('patch', patch);
  on('counts', count);
  on('stale', refresh);
  on('job', j => { const e = $('#job'); if (e) morph(e, element(j.html)); if (j.done) refreshSoon(); });
}

// MARK: Reading the page anew

async function refresh(url = location.href) {
  try {
    const page = parse(await (await fetch(url)).text()), list = $('#list', page);
    if (!list) return;
    if ($('#list')) morph($('#list'), list);
    body.dataset.at = page.body.dataset.at;
  } catch (e) { if (e.name !== 'AbortError') $('#offline').hidden = false; }
}
function refreshSoon() { clearTimeout(freshTimer); freshTimer = setTimeout(refresh, 150); }

async function search() {
  searching?.abort();
  searching = new AbortController();
  const q = $('#q').value.trim(), url = '/prepare' + (q ? '?q=' + encodeURIComponent(q) : '');
  try {
    const page = parse(await (await fetch(url, { signal: searching.signal })).text());
    morph($('#list'), $('#list', page));
    body.dataset.at = page.body.dataset.at;
    history.replaceState(null, '', url);
    $('#news').textContent = q ? $('h2', $('#list'))?.textContent ?? '' : '';
  } catch (e) { if (e.name !== 'AbortError') $('#offline').hidden = false; }
}

// MARK: Forms

async function send(form, button) {
  const data = new FormData(form, button), detail = form.closest('#detail');
  const row = button?.closest('#list li'), pressed = row && button.ariaPressed;
  own = Date.now();
  if (pressed) button.ariaPressed = pressed !== 'true';
  let answer;
  try {
    const files = form.enctype.startsWith('multipart');
    answer = await fetch(button?.getAttribute('formaction') ?? form.getAttribute('action'), {
      method: 'POST', body: files ? data : new URLSearchParams(data), headers: { 'X-Patch': '1' } });
  } catch {
    if (pressed) button.ariaPressed = pressed;
    return complain('Not saved: no connection. Try again when it is back.');
  }
  own = Date.now();
  if (!answer.headers.get('content-type')?.startsWith('application/json')) return show(parse(await answer.text()), detail);
  const { to, flash: message } = await answer.json(), here = location.pathname + location.search;
  if (row || form.id === 'undo' || form.closest('#flash')) return flash(message);
  if (detail && to.startsWith('/items/')) return flash(message), open(to);
  if (to === here || detail) {
    if (detail) detail.replaceChildren();
    flash(message);
    if ($('#list')) { form.reset(); return refresh(); }
  } else if (message) sessionStorage.flash = message;
  if (!detail) location.assign(to);
}

function show(page, detail) {
  const main = $('main', page);
  (detail ?? $('main')).replaceChildren(...main.childNodes);
  if (!detail) document.title = page.title;
  ($('[aria-invalid], [role=alert] a, .conflict button', detail ?? $('main')) ?? $('h1', detail ?? $('main')))?.focus?.();
}

// An item beside the list, where there is room.
async function open(path) {
  let pane = $('#detail');
  if (!pane) { pane = element('<aside id=detail aria-label=Item></aside>'); $('main').after(pane); body.classList.add('two'); }
  show(parse(await (await fetch(path)).text()), pane);
  for (const a of $$('#list a[aria-current]')) a.removeAttribute('aria-current');
  $(`#list a[href="${path}"]`)?.setAttribute('aria-current', 'true');
}

addEventListener('submit', e => {
  if (e.target.id === 'search') { e.preventDefault(); return search(); }
  if (e.target.method !== 'post') return;
  e.preventDefault();
  send(e.target, e.submitter);
});
addEventListener('input', e => { if (e.target.id === 'q') { clearTimeout(freshTimer); freshTimer = setTimeout(search, 60); } });
addEventListener('change', e => { if (e.target.type === 'file') e.target.form.requestSubmit(); });
addEventListener('click', e => {
  const a = e.target.closest('a');
  if (!a || e.ctrlKey || e.metaKey || e.shiftKey) return;
  const detail = a.closest('#detail');
  if (detail && a.matches('.back, .button[href="/prepare"]')) { e.preventDefault(); detail.remove(); body.classList.remove('two'); }
  else if (wide.matches && a.matches('#list li > a[href^="/items/"], #detail a[href^="/items/"]')) { e.preventDefault(); open(a.getAttribute('href')); }
});

// MARK: Keys and swipes

function act(path, fields = {}) {
  const form = $('#undo').cloneNode(true);
  form.action = path;
  for (const [name, value] of Object.entries(fields)) { const i = document.createElement('input'); i.name = name; i.value = value; form.append(i); }
  return send(form);
}
const remove = row => {
  const next = (row.nextElementSibling ?? row.previousElementSibling)?.querySelector('button');
  act(`/items/${row.id.slice(1)}/delete`).then(() => next?.focus());
};

addEventListener('keydown', e => {
  const here = document.activeElement, rows = $$('#list li > :first-child'), row = here?.closest?.('#list li');
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'z' && !isText(here)) { e.preventDefault(); return act(e.shiftKey ? '/redo' : '/undo'); }
  if (e.ctrlKey || e.metaKey || e.altKey || $('dialog[open]')) return;
  if (here?.id === 'q' && e.key === 'ArrowDown') { e.preventDefault(); return rows[0]?.focus(); }
  if (here?.id === 'q' && e.key === 'Escape') { here.value = ''; return search(); }
  if (isText(here)) return;
  const to = { ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (to && rows.length) {
    const at = row ? rows.indexOf(row.firstElementChild) + to : to > 0 ? 0 : rows.length - 1;
    e.preventDefault();
    rows[Math.max(0, Math.min(at, rows.length - 1))].focus();
  } else if (e.key === '/') { e.preventDefault(); $('#q') ? $('#q').focus() : location.assign('/prepare'); }
  else if (e.key === 'n') location.assign('/items/new');
  else if (e.key === '?') $('#keys').showModal();
  else if (row && here.ariaPressed && e.key === 'Enter') { e.preventDefault(); $('a', row).click(); }
  else if (row && here.ariaPressed && e.key === 'Delete') { e.preventDefault(); remove(row); }
});

let start;
addEventListener('touchstart', e => { const t = e.touches[0]; start = { x: t.clientX, y: t.clientY, row: e.target.closest('#list li:has(button)') }; }, { passive: true });
addEventListener('touchmove', e => {
  const t = e.touches[0], x = t.clientX - start.x;
  start.by = start.row && x < -16 && Math.abs(t.clientY - start.y) < 32 ? x : 0;
  if (start.row) start.row.style.translate = start.by ? start.by + 'px' : '';
}, { passive: true });
addEventListener('touchend', () => { if (!start?.row) return; start.row.style.translate = ''; if (start.by < -120) remove(start.row); start = null; });

addEventListener('animationend', e => e.target.classList.remove('moved'));
addEventListener('pageshow', e => { if (e.persisted) { connect(); refresh(); } });
if (sessionStorage.flash) { flash(sessionStorage.flash); sessionStorage.removeItem('flash'); }
if ($('#flash').firstChild) flashTimer = setTimeout(() => $('#flash').replaceChildren(), 12000);
connect();
}
