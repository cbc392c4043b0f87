// The model editor: keys, and boxes that are dragged. All of it can be done by forms, too.
(() => {
  const { one, all, isTyping } = window.studio;

  // MARK: Keys
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    const isSave = key === "s";
    const action = isSave ? "save" : key === "z" ? (event.shiftKey ? "redo" : "undo") : key === "y" ? "redo" : null;
    if (!action || (!isSave && isTyping())) return;
    const button = one(`[data-key=${action}]`);
    if (!button) return;
    event.preventDefault();
    button.form.requestSubmit(button);
  });

  // MARK: Graph
  const graph = one("[data-graph]");
  const svg = graph && one("svg", graph);
  const form = one("[data-graph-form] form");
  if (!svg) return;
  let zoom = 1;
  const size = { width: svg.width.baseVal.value, height: svg.height.baseVal.value };
  all("[data-zoom]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => {
      zoom = Math.max(0.2, Math.min(4, zoom * Number(button.dataset.zoom)));
      svg.setAttribute("width", Math.round(size.width * zoom));
      svg.setAttribute("height", Math.round(size.height * zoom));
    });
  });
  if (!form) return;

  // Sends the place of a box, in the units of the file.
  const send = (box, dx, dy) => {
    const scale = Number(svg.dataset.scale) / 100;
    one("[data-graph-entity]", form).value = box.dataset.box;
    one("[data-graph-x]", form).value = Math.round(Number(box.dataset.x) + dx / scale);
    one("[data-graph-y]", form).value = Math.round(Number(box.dataset.y) + dy / scale);
    sessionStorage.setItem("studio-box", box.dataset.box);
    form.requestSubmit();
  };
  const boxes = all("[data-box]", svg);
  boxes.find((box) => box.dataset.box === sessionStorage.getItem("studio-box"))?.focus();
  sessionStorage.removeItem("studio-box");
  boxes.forEach((box) => {
    let start = null;
    let moved = { x: 0, y: 0 };
    const show = () => box.setAttribute("transform", `translate(${moved.x} ${moved.y})`);
    const end = () => {
      start = null;
      box.classList.remove("dragged");
    };
    box.addEventListener("dragstart", (event) => event.preventDefault());
    box.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      start = { x: event.clientX, y: event.clientY };
      moved = { x: 0, y: 0 };
    });
    box.addEventListener("pointermove", (event) => {
      if (!start) return;
      moved = { x: (event.clientX - start.x) / zoom, y: (event.clientY - start.y) / zoom };
      if (Math.hypot(moved.x, moved.y) < 4) return;
      if (!box.hasPointerCapture(event.pointerId)) box.setPointerCapture(event.pointerId);
      box.classList.add("dragged");
      show();
    });
    box.addEventListener("pointerup", () => {
      const isMoved = box.classList.contains("dragged");
      end();
      if (isMoved) send(box, moved.x, moved.y);
    });
    box.addEventListener("pointercancel", () => {
      end();
      box.removeAttribute("transform");
    });
    box.addEventListener("click", (event) => {
      if (Math.hypot(moved.x, moved.y) >= 4) event.preventDefault();
    });
    let timer = 0;
    box.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-10, 0], ArrowRight: [10, 0], ArrowUp: [0, -10], ArrowDown: [0, 10] }[event.key];
      if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      moved = { x: moved.x + step[0], y: moved.y + step[1] };
      show();
      clearTimeout(timer);
      timer = setTimeout(() => send(box, moved.x, moved.y), 700);
    });
  });
})();
