'use strict';
// Keeps what a user did and the server does not have yet: typed text of a form that was left, and, below, ticks without a connection.
{
const $ = (s, r = document) => r.querySelector(s), $$ = (s, r = document) => [...r.querySelectorAll(s)];
const element = (name, values, ...children) => { const e = Object.assign(document.createElement(name), values); e.append(...children); return e; };

// Drafts: forms with a name for theirs keep their fields for this tab until they are sent or cancelled.

const seen = new WeakSet(), key = form => 'draft ' + form.dataset.draft;
const fields = form => [...new FormData(form)].filter(([name, value]) => name !== 'token' && typeof value === 'string');
const typed = all => JSON.stringify(all.filter(([name]) => !/^(was-|once$)/.test(name)));
const store = (form, isSent) => { sessionStorage[key(form)] = JSON.stringify({ isSent, fields: fields(form) }); };
const drop = form => sessionStorage.removeItem(key(form));

function fill(form, all) {
  const values = new Map(all);
  for (const e of form.elements) {
    if (!e.name || e.name === 'token' || ['file', 'submit', 'button'].includes(e.type)) continue;
    if (e.type === 'checkbox') { e.checked = values.has(e.name); continue; }
    if (values.has(e.name)) e.value = values.get(e.name);
    // What was chosen does not exist any more.
    if (e.selectedIndex < 0) e.value = '';
  }
}

function restore(form) {
  seen.add(form);
  const kept = sessionStorage[key(form)];
  if (!kept) return;
  const draft = JSON.parse(kept), before = fields(form);
  if (draft.isSent || typed(draft.fields) === typed(before)) return drop(form);
  fill(form, draft.fields);
  const discard = element('button', { type: 'button', className: 'link', textContent: 'Discard' });
  const notice = element('div', { className: 'notice draft' }, element('p', { textContent: 'What you typed before is back, not saved yet. ' }, discard));
  notice.setAttribute('role', 'status');
  discard.onclick = () => { drop(form); fill(form, before); notice.remove(); $('input:not([type=hidden]), select', form)?.focus(); };
  form.prepend(notice);
}

const look = () => { for (const form of $$('form[data-draft]')) if (!seen.has(form)) restore(form); };
new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
look();

const draftOf = e => e.target.closest?.('form[data-draft]');
for (const name of ['input', 'change']) addEventListener(name, e => { const form = draftOf(e); if (form) store(form, false); });
// After the script of the page, which reads the form first. A form that cannot be sent says so by another input event.
addEventListener('submit', e => {
  const form = draftOf(e);
  if (!form) return;
  if (e.submitter?.value === 'cancel') drop(form); else store(form, true);
});
addEventListener('click', e => { if (e.target.closest('.cancel')) for (const form of $$('form[data-draft]')) drop(form); });

// The service worker keeps the pages that start without a connection. Browsers have one on this machine and with HTTPS alone.

const { dataset } = document.body;
const attribute = e => e.getAttribute('href') ?? e.getAttribute('src');
function keepPages(age) {
  if (!navigator.serviceWorker || Date.now() - (sessionStorage.kept ?? 0) < age) return;
  const files = $$('link[rel=stylesheet], link[rel=icon], link[rel=manifest], script[src]').map(attribute);
  navigator.serviceWorker.ready.then(worker => {
    sessionStorage.kept = Date.now();
    worker.active.postMessage({ keep: [...dataset.keep.split(' '), '/offline', ...files] });
  });
}
navigator.serviceWorker?.register('/sw.js').catch(() => {});
keepPages(60000);
document.addEventListener('visibilitychange', () => { if (document.hidden) keepPages(10000); });

// Ticks without a connection: the state that is wished for, sent in their order when there is one. Of two for one item the later counts.

const ticks = async (mode, act) => {
  const base = await new Promise((resolve, reject) => {
    const opening = indexedDB.open('ticks', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('ticks', { keyPath: 'id', autoIncrement: true });
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  try {
    return await new Promise((resolve, reject) => {
      const work = base.transaction('ticks', mode), request = act(work.objectStore('ticks'));
      work.oncomplete = () => resolve(request.result);
      work.onerror = work.onabort = () => reject(work.error);
    });
  } finally { base.close(); }
};
const allTicks = () => ticks('readonly', all => all.getAll());

let retry, isMine = false, isSending = false;

// A row's button sends what is wanted next.
const press = (button, on) => { if (button) { button.ariaPressed = on; button.name = on ? 'off' : 'on'; } };

async function showTicks() {
  const all = await allTicks(), bar = $('#offline'), list = $('#list');
  $('#waiting').textContent = all.length ? ` ${all.length} ${all.length > 1 ? 'changes wait' : 'change waits'} to be sent.` : '';
  for (const { i, tick, on } of all) if (list?.dataset.tick === tick) press($(`#i${i} button`, list), on);
  if (all.length) { isMine = true; bar.hidden = false; clearTimeout(retry); retry = setTimeout(sendTicks, 3000); }
  else if (isMine) { isMine = false; bar.hidden = true; }
}

// The script of the page has a tick that was not sent. Whether it is kept.
window.keepTick = async (form, button) => {
  const { tick } = form.dataset, i = button.value, on = button.ariaPressed === 'true', title = button.textContent;
  if (!tick) return false;
  try {
    await ticks('readwrite', all => {
      const former = all.getAll();
      former.onsuccess = () => {
        for (const t of former.result) if (t.i === i && t.tick === tick) all.delete(t.id);
        all.add({ i, tick, on, title });
      };
      return former;
    });
    await showTicks();
  } catch { return false; }
  return true;
};

const token = page => $('#undo [name=token]', page)?.value ?? '';

async function send({ i, tick, on }) {
  for (let isSecond = false; ; isSecond = true) {
    const answer = await fetch('/ticks', {
      method: 'POST', headers: { 'X-Patch': '1' }, body: new URLSearchParams({ token: token(document), i, tick, on: on ? 1 : 0 }) });
    if (answer.ok) return (await answer.json()).flash;
    if (answer.status !== 403 || isSecond) throw Error(answer.status);
    // The form's secret is another one by now.
    const now = new DOMParser().parseFromString(await (await fetch('/offline')).text(), 'text/html');
    for (const e of $$('[name=token]')) e.value = token(now);
  }
}

async function sendAll() {
  const problems = [];
  let sent = 0;
  try {
    for (const tick of await allTicks()) {
      const { firstElementChild: message } = new DOMParser().parseFromString(await send(tick), 'text/html').body;
      if (message?.matches('.problem')) problems.push(`“${tick.title}” is not ticked: ${message.textContent.trim()}`);
      else sent += 1;
      await ticks('readwrite', all => all.delete(tick.id));
    }
  } finally {
    const text = problems.length ? problems.join(' ') : sent ? `${sent} ${sent > 1 ? 'changes' : 'change'} sent.` : '';
    if (text) $('#flash').replaceChildren(element('div', { className: 'flash ' + (problems.length ? 'problem' : 'done') }, element('span', { textContent: text })));
  }
}

async function sendTicks() {
  if (isSending) return;
  isSending = true;
  // One tab at a time; where browsers have no locks, sending twice does no harm.
  try { await (navigator.locks ? navigator.locks.request('ticks', sendAll) : sendAll()); } catch { /* The next try is on its way. */ }
  isSending = false;
  await showTicks();
}
addEventListener('online', sendTicks);
showTicks().then(sendTicks, () => {});
}
