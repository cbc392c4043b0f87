// Conveniences for pages that work without them. Nothing here is needed to read or change anything.
"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const fragment = async (address) => {
    const response = await fetch(address, { headers: { "X-Studio": "fragment" } });
    if (!response.ok) throw new Error(`${response.status}`);
    return response.text();
  };
  // Answers come from Studio alone, and their values are escaped there.
  const markup = (text) => document.createRange().createContextualFragment(text);
  const isTyping = () => document.activeElement?.matches("input, textarea, select, [contenteditable]") ?? false;
  window.studio = { one, all, fragment, markup, isTyping };

  // MARK: Keys
  const keys = one("#keys");
  const button = one("[data-keys]");
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => keys.showModal());
  }
  let isGoing = false;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape" && !one("#beside").hidden) return closeBeside();
    if (isTyping() || one("dialog[open]")) return;
    if (isGoing) {
      isGoing = false;
      if (event.key === "m") location.href = "/model";
      if (event.key === "s") location.href = "/store";
      return;
    }
    const rows = all(".grid tbody tr");
    const current = rows.findIndex((row) => row.hasAttribute("aria-current"));
    const go = (index) => {
      const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
      if (!row) return;
      rows[current]?.removeAttribute("aria-current");
      row.setAttribute("aria-current", "true");
      one("a", row)?.focus();
      row.scrollIntoView({ block: "nearest" });
    };
    switch (event.key) {
      case "/": one("[data-search]")?.focus(); break;
      case "?": keys.showModal(); break;
      case "g": isGoing = true; return;
      case "j": go(current + 1); break;
      case "k": go(current - 1); break;
      case "n": one("a[rel=next]")?.click(); break;
      case "p": one("a[rel=prev]")?.click(); break;
      default: return;
    }
    event.preventDefault();
  });

  // MARK: An object beside the list
  const beside = one("#beside");
  let opener = null;
  const closeBeside = () => {
    beside.hidden = true;
    beside.replaceChildren();
    opener?.focus();
  };
  const openBeside = async (link) => {
    let text;
    try { text = await fragment(link.href); } catch { location.href = link.href; return; }
    if (beside.hidden) opener = link;
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "Close";
    close.addEventListener("click", closeBeside);
    const open = document.createElement("a");
    open.href = link.href;
    open.className = "button";
    open.textContent = "Open as a page";
    const row = document.createElement("div");
    row.className = "row";
    row.append(close, open);
    const content = markup(text);
    // The page has its heading of the first level already.
    all("h1", content).forEach((heading) => {
      const lower = document.createElement("h2");
      lower.append(...heading.childNodes);
      heading.replaceWith(lower);
    });
    beside.setAttribute("role", "complementary");
    beside.setAttribute("aria-label", "Object");
    beside.replaceChildren(row, content);
    beside.hidden = false;
    close.focus();
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-beside]");
    if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (innerWidth < 1100) return;
    event.preventDefault();
    openBeside(link);
  });
  // MARK: Parts that are read later
  document.addEventListener("toggle", async (event) => {
    const details = event.target;
    if (!details.open || !details.dataset.load) return;
    const address = details.dataset.load;
    delete details.dataset.load;
    const box = document.createElement("div");
    try { box.append(markup(await fragment(address))); } catch { return; }
    details.replaceChildren(one("summary", details), box);
  }, true);
  const fill = async (root = document) => {
    for (const place of all("[data-fill]", root)) {
      const address = place.dataset.fill;
      delete place.dataset.fill;
      try { place.replaceChildren(markup(await fragment(address))); } catch { /* The number stays approximate. */ }
    }
  };
  fill();

  // MARK: Completion of predicates
  for (const field of all("[data-complete]")) {
    const list = document.createElement("ul");
    list.className = "suggestions";
    list.id = `${field.id}-suggestions`;
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Suggestions");
    list.hidden = true;
    field.after(list);
    for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-controls", list.id], ["aria-expanded", "false"]]) field.setAttribute(name, value);
    let answer = null;
    let chosen = -1;
    let number = 0;
    const hide = () => {
      list.hidden = true;
      chosen = -1;
      field.setAttribute("aria-expanded", "false");
      field.removeAttribute("aria-activedescendant");
    };
    const mark = (index) => {
      chosen = index;
      [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === index)));
      const item = list.children[index];
      if (item) {
        field.setAttribute("aria-activedescendant", item.id);
        item.scrollIntoView({ block: "nearest" });
      }
    };
    const take = (index) => {
      const item = answer.items[index];
      const end = field.value.slice(answer.end);
      const text = item.text + (item.text.endsWith("''") ? "" : " ");
      field.value = field.value.slice(0, answer.start) + text + end;
      const caret = answer.start + text.length - (item.text.endsWith("''") ? 1 : 0);
      field.setSelectionRange(caret, caret);
      hide();
      ask();
    };
    const ask = async () => {
      const mine = ++number;
      const query = new URLSearchParams({ text: field.value, caret: field.selectionStart });
      let found;
      try { found = await (await fetch(`${field.dataset.complete}?${query}`)).json(); } catch { return; }
      // An answer to an earlier text may come later.
      if (mine !== number || document.activeElement !== field) return;
      answer = found;
      list.replaceChildren(...found.items.map((item, index) => {
        const line = document.createElement("li");
        line.id = `${list.id}-${index}`;
        line.setAttribute("role", "option");
        const text = document.createElement("code");
        text.textContent = item.text;
        const detail = document.createElement("small");
        detail.textContent = item.detail;
        line.append(text, detail);
        line.addEventListener("mousedown", (event) => {
          event.preventDefault();
          take(index);
        });
        return line;
      }));
      list.hidden = found.items.length === 0;
      field.setAttribute("aria-expanded", String(!list.hidden));
      mark(-1);
    };
    field.addEventListener("input", ask);
    field.addEventListener("blur", hide);
    field.addEventListener("keydown", (event) => {
      if (event.key === " " && event.ctrlKey) { event.preventDefault(); return ask(); }
      if (list.hidden) return;
      const count = list.children.length;
      if (event.key === "ArrowDown") mark((chosen + 1) % count);
      else if (event.key === "ArrowUp") mark((chosen - 1 + count) % count);
      else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) take(chosen);
      else if (event.key === "Escape") hide();
      else return;
      event.preventDefault();
    });
  }

  // MARK: Watching
  for (const label of all("[data-watch]")) {
    label.hidden = false;
    const box = one("input", label);
    let stamp;
    let timer;
    const patch = async () => {
      const fresh = markup(await fragment(location.href));
      const oldRows = new Map(all("tr[data-row]").map((row) => [row.dataset.row, row.innerHTML]));
      const grid = one(".grid tbody");
      const next = one(".grid tbody", fresh);
      if (!grid || !next) { location.reload(); return; }
      let count = 0;
      for (const row of all("tr[data-row]", next)) {
        if (oldRows.get(row.dataset.row) === row.innerHTML) continue;
        row.classList.add("changed");
        count += 1;
      }
      const gone = [...oldRows.keys()].filter((name) => !one(`tr[data-row="${CSS.escape(name)}"]`, next)).length;
      if (count + gone === 0) return;
      const left = grid.closest(".scroll").scrollLeft;
      const top = grid.closest(".scroll").scrollTop;
      grid.replaceWith(next);
      Object.assign(one(".scroll.tall"), { scrollLeft: left, scrollTop: top });
      one("#message").textContent = `${count} rows changed${gone ? `, ${gone} are no longer on this page` : ""}`;
    };
    const look = async () => {
      try {
        const now = (await (await fetch(label.dataset.watch)).json()).stamp;
        if (stamp !== undefined && (now === undefined || now !== stamp)) await patch();
        stamp = now ?? null;
      } catch { /* Studio has ended, or is busy: the next attempt tells. */ }
      if (box.checked) timer = setTimeout(look, stamp === null ? 5000 : 1000);
    };
    const set = () => {
      sessionStorage.setItem("watch", box.checked ? "1" : "");
      clearTimeout(timer);
      stamp = undefined;
      if (box.checked) look();
    };
    box.checked = sessionStorage.getItem("watch") === "1";
    box.addEventListener("change", set);
    if (box.checked) look();
  }
})();
