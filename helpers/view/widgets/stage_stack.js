// The value stack as blocks that grow upward, and the variables below it.

const SLOT = { least: 20, most: 34, gap: 4 };
const FOOT = 10; // pixels below the lowest slot: for the mark on its edge
const MS = 250;
const NULL_MEANS = "NULL: an empty slot; a call of a method finds self there";

function stackPane(script, room) {
  const pane = makePane("stack", script.codes.length ? "Value stack" : "Symbolic stack");
  const box = make("div", "stage-blocks", "", { role: "img" });
  const strip = make("div", "stage-strip", "");
  const why = make("p", "stage-why", "");
  const below = make("div", "stage-below", "");
  const deepest = script.tracks.reduce((most, t) => Math.max(most, t.stack?.length ?? 0), 1);
  const allowed = Math.max(deepest, ...script.codes.map((code) => code.depth));
  const slots = allowed * (SLOT.least + SLOT.gap) <= room - 18 - FOOT ? allowed : deepest;
  const size = Math.max(SLOT.least, Math.min(SLOT.most, Math.floor((room - 18 - FOOT) / slots) - SLOT.gap));
  const pitch = size + SLOT.gap;
  const seen = slots * pitch + 18 + FOOT <= room ? slots : Math.max(1, Math.floor((room - 35) / pitch));
  const foot = slots > seen ? 17 : FOOT; // what is not seen is counted below
  box.style.setProperty("--foot", `${foot - 4}px`);
  for (let n = 0; n < slots; n++) {
    strip.append(placed(make("div", "stage-slot", "", { "aria-hidden": "true" }), n));
  }
  strip.append(make("div", "stage-base", ""));
  box.append(strip, why, below);
  box.style.height = `${Math.min(slots, seen) * pitch + 18 + foot}px`;
  pane.body.append(box);
  const blocks = new Map();

  function placed(node, n) {
    node.dataset.slot = n;
    node.style.bottom = `${foot + n * pitch}px`;
    node.style.height = `${size}px`;
    return node;
  }
  const blockOf = (value) => {
    if (!blocks.has(value.key)) blocks.set(value.key, make("div", "stage-block", ""));
    const block = blocks.get(value.key);
    fillBlock(block, value);
    return block;
  };
  const show = (now, moving, before, last, after) => {
    const stack = now.stack ?? [];
    strip.querySelectorAll(".stage-gone,.stage-takes,.stage-puts").forEach((node) => node.remove());
    const keys = new Set(stack.map(({ key }) => key));
    const fresh = [];
    for (const [key, block] of blocks) if (!keys.has(key)) (block.remove(), blocks.delete(key));
    stack.forEach((value, n) => {
      if (!blocks.has(value.key)) fresh.push(value);
      const block = placed(blockOf(value), n);
      block.classList.toggle("stage-taking", n >= stack.length - now.taken);
      strip.append(block);
    });
    const put = putBy(last, now);
    for (const n of put) markNew(blocks.get(stack[n].key));
    const puts = now.ending ? [] : putBy(now, after);
    for (const n of puts) strip.append(placed(putsMark(n < stack.length), n));
    const gone = popped(now, before);
    gone.forEach(({ value, n }) => {
      if (n >= slots) return;
      const node = placed(make("div", "stage-gone", ""), n);
      node.append(make("span", "", value.words));
      node.title = `just popped: ${value.words}`;
      strip.append(node);
    });
    if (gone.length) {
      const top = Math.max(...gone.map(({ n }) => n)) + 1;
      const label = make("div", "stage-takes stage-popped", "just popped");
      label.style.bottom = `${foot + Math.min(top, slots) * pitch - 2}px`;
      strip.append(label);
    }
    if (now.taken && stack.length) {
      const from = stack.length - now.taken;
      const bracket = make("div", "stage-takes stage-bracket", `pops ${now.taken}`);
      bracket.style.bottom = `${foot + from * pitch}px`;
      bracket.style.height = `${now.taken * pitch - SLOT.gap}px`;
      strip.append(bracket);
    }
    const hidden = Math.max(0, Math.max(stack.length, ...puts.map((n) => n + 1)) - seen);
    for (const node of strip.querySelectorAll("[data-slot]")) {
      const n = Number(node.dataset.slot);
      node.classList.toggle("stage-out", n < hidden || n >= hidden + seen);
    }
    strip.style.transform = `translateY(${hidden * pitch}px)`;
    below.textContent = hidden ? `↓ ${hidden} more below` : "";
    const empty = !stack.length && !gone.length && !puts.length;
    why.textContent = now.stack && empty ? "empty" : "";
    const most = slots === allowed && script.codes.length === 1 ? ` of at most ${slots}` : "";
    const depth = `${stack.length}${most || ` value${stack.length === 1 ? "" : "s"}`}`;
    const covered = new Set(puts);
    for (const [n, value] of stack.entries()) blocks.get(value.key).classList.toggle("stage-covered", covered.has(n));
    for (const kind of strip.querySelectorAll(".stage-block small")) {
      kind.hidden = false; // a type that is cut says less than none
      kind.hidden = kind.scrollWidth > kind.clientWidth;
    }
    pane.aside.textContent = now.stack ? depth : "none at this step";
    const words = stack.map(({ words }) => words).reverse().join(", ");
    const told = [put.length && `new: ${put.map((n) => stack[n].words).join(", ")}`, now.taken && `pops the top ${now.taken}`];
    box.setAttribute("aria-label", [`Value stack, top first: ${words || "empty"}`, ...told].filter(Boolean).join("; "));
    return { fresh: fresh.map((value) => ({ value, block: blocks.get(value.key) })), gone };
  };
  return { box: pane.box, show, blocks };
}

function fillBlock(block, value) {
  const empty = value.words === "NULL" && !value.kind;
  block.classList.toggle("stage-null", empty);
  block.classList.remove("stage-fresh");
  block.replaceChildren(make("span", "", empty ? "NULL" : value.words));
  const kind = shortKind(value.kind);
  const told = [value.words.includes(kind) ? "" : kind, value.same && `is ${value.same}`].filter(Boolean).join(" · ");
  if (told || empty) block.append(make("small", "", empty ? "empty slot" : told));
  block.title = empty ? NULL_MEANS : `${value.words}${kind ? ` (${kind})` : ""}`;
  if (value.same) block.title += `: the very object that ${value.same} refers to`;
}

const shortKind = (kind) =>
  kind.replace("builtin_function_or_method", "builtin").replace("NoneType", "None").replace(/^type$/, "class");

function localsPane(script) {
  const pane = makePane("locals", "Locals");
  const box = make("div", "stage-locals", "");
  const most = Math.max(1, ...script.codes.map((code) => code.names.length));
  box.style.height = `${Math.min(most, 5) * 24 + 2}px`;
  if (most > 5) makeScroll(box, "Locals");
  pane.body.append(box);
  let [code, rows] = [null, []];
  const show = (now, moving, before) => {
    if (!now.locals) return;
    if (now.code !== code) {
      code = now.code;
      rows = code.names.map((name) => localRow(name));
      box.replaceChildren(...rows);
      if (!rows.length) box.append(make("p", "stage-none", "it has none"));
    }
    now.locals.forEach((value, n) => fillLocal(rows[n], value, before?.locals ? before.locals[n] : value));
    const set = now.locals.filter(Boolean).length;
    pane.aside.textContent = rows.length ? `${set} of ${rows.length} set` : "";
    const changed = rows.find((row) => row.classList.contains("stage-changed"));
    if (changed && most > 5) follow(box, changed.offsetTop, 24, true);
  };
  const height = Math.min(most, 5) * 24 + 28;
  return { box: pane.box, show, height, home: (name) => rows.find((row) => row.dataset.name === name)?.children[1] };
}

function localRow(name) {
  const row = make("div", "stage-local", "");
  const cell = name.endsWith(" (cell)");
  row.dataset.name = cell ? name.slice(0, -7) : name;
  row.classList.toggle("stage-cell", cell);
  const label = make("b", "", row.dataset.name);
  label.title = cell ? `${name}: a box that inner functions share` : name;
  row.append(label, make("span", "", ""), make("small", "", ""), make("small", "stage-was", ""));
  return row;
}

function fillLocal(row, value, before) {
  const changed = value?.words !== before?.words;
  const [, words, kind, was] = row.children;
  words.textContent = value ? value.words : "–";
  words.title = value?.words ?? "";
  const cell = row.classList.contains("stage-cell");
  kind.textContent = value ? (cell ? "shared cell" : shortKind(value.kind)) : "";
  row.classList.toggle("stage-unset", !value);
  row.classList.toggle("stage-changed", changed);
  const old = before ? `was ${before.words}` : "new";
  was.textContent = changed ? (value ? old : `unset, was ${before.words}`) : value ? "" : "not set";
  was.title = was.textContent;
}
