'use strict';
// Keeps what a user did and the server does not have yet: typed text of a form that was left, and, below, ticks without a connection.
{
const $ = (s, r = document) => r.querySelector(s), $$ = (s, r = document) => [...r.querySelectorAll(s)];
const element = (name, values, ...children) => { const e = Object.assign(document.createElement(name), values); e.append(...children); return e; };

// Drafts: forms with a name for theirs keep their fields for this tab until they are sent or cancelled.

const seen = new WeakSet(), key = form => 'draft ' + form.dataset.draft;
const fields = form => [...new FormData(form)].filter(([name, value]) => name !== 'token' && typeof value === 'string');
const typed = all => JSON.stringify(all.filter(([name]) => !name.startsWith('was-')));
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
}
