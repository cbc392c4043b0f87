'use strict';
// One stream of events for all tabs of a browser, which has few connections to a server. Every tab gets every event.
const tabs = new Map();
let source, lists = new Set(), seen, isOpen, retry;

const position = id => { const [run, n] = id.split('.'); return { run, n: +n }; };
const tell = message => { for (const tab of tabs.keys()) tab.postMessage(message); };

// Opens the stream again, for the lists of the tabs that are open now.
function listen() {
  source?.close();
  clearTimeout(retry);
  source = isOpen = null;
  if (!tabs.size) { seen = null; return; }
  lists = new Set(tabs.values());
  source = new EventSource(`/events?list=${[...lists]}&after=${seen}`);
  for (const name of ['patch', 'parts', 'stale']) {
    source.addEventListener(name, ({ lastEventId, data }) => { seen = lastEventId; tell({ name, lastEventId, data }); });
  }
  source.onopen = () => tell({ isOpen: isOpen = true });
  source.onerror = () => {
    tell({ isOpen: isOpen = false });
    if (source.readyState === 2) retry = setTimeout(listen, 3000 + 3000 * Math.random());
  };
}

// Adds a tab whose page was made at the position `at`. A page that is older than the stream needs the events in between; tabs skip
// those that they have seen. Positions of two runs of the server cannot be compared: without one, the server has all tabs read anew.
function join(tab, { list, at }) {
  tabs.set(tab, list);
  const page = position(at), stream = seen && position(seen), isSame = page.run === stream?.run;
  if (source && isSame && page.n >= stream.n && lists.has(list)) { if (isOpen != null) tab.postMessage({ isOpen }); return; }
  if (seen == null || isSame && page.n < stream.n) seen = at;
  else if (!isSame) seen = '';
  listen();
}

onconnect = ({ ports: [tab] }) => {
  tab.onmessage = ({ data }) => {
    if (data) return join(tab, data);
    tabs.delete(tab);
    if (!tabs.size) listen();
  };
};
