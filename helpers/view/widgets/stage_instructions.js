// The instructions of the function that runs: a pointer that moves, jumps as arcs in the gutter.

const ROW = { least: 17, most: 20 };
const ARC = { first: 26, step: 7, levels: 4 };

function instructionPane(script, go, links, room) {
  const pane = makePane("instructions", "Instructions");
  const box = makeScroll(make("div", "stage-rows", ""), "Instructions");
  const guard = make("div", "stage-guard", "");
  const guarded = script.tracks.some((step) => script.words[step.handler]);
  pane.body.append(box);
  if (guarded) pane.body.append(guard);
  const lists = new Map();
  let shown = null;

  const listOf = (code) => {
    if (!lists.has(code)) lists.set(code, instructionList(code, script, go, links, room - (guarded ? 60 : 38)));
    return lists.get(code);
  };
  const show = (now, moving, next) => {
    if (now.code && shown !== listOf(now.code)) {
      shown = listOf(now.code);
      box.replaceChildren(shown.box);
      box.scrollTop = 0;
    }
    pane.aside.textContent = script.codes.length > 1 && now.code ? `of ${now.code.name}` : "caches hidden";
    shown?.show(now, moving, next);
    if (shown && now.row >= 0) follow(box, shown.top(now.row), shown.height, !moving);
    guard.textContent = now.handler ? `⚑ on an exception here: ${now.handler}` : "";
  };
  links.onRows((rows) => shown?.hint(rows), () => shown?.rows ?? []);
  return { box: pane.box, show };
}

function instructionList(code, script, go, links, room) {
  const height = Math.max(ROW.least, Math.min(ROW.most, Math.floor(room / code.rows.length)));
  const box = make("div", "stage-listed", "", { style: `height:${height * code.rows.length}px` });
  box.style.setProperty("--gutter", code.rows.some((row) => row.to >= 0) || script.words.some((words) => words.startsWith("go to ")) ? "34px" : "6px");
  box.style.setProperty("--op", `${Math.min(15, Math.max(...code.rows.map((row) => row.opname.length)))}ch`);
  const pointer = make("div", "stage-pointer", "", { style: `height:${height}px` });
  const ran = new Set(script.tracks.filter((t) => script.codes[t.code] === code).map((t) => t.offset));
  box.append(pointer);
  let line = 0;
  const nodes = code.rows.map((row, n) => {
    const node = make("div", "stage-row", "", { style: `top:${n * height}px;height:${height}px;line-height:${height}px` });
    const at = row.span?.[0] ?? 0;
    if (n && at && at !== line) node.classList.add("stage-first");
    line = at || line;
    node.append(make("i", "", String(row.offset)), make("span", "", row.opname), make("em", "", row.argument));
    node.title = `${row.offset} ${row.opname} ${row.argument}`.trim();
    if (ran.has(row.offset)) {
      node.classList.add("stage-used");
      node.addEventListener("click", () => go(nextAt(script, code, row.offset)));
    }
    node.addEventListener("mouseenter", () => links.atRow(row));
    node.addEventListener("mouseleave", () => links.atRow(null));
    box.append(node);
    return node;
  });
  const arcs = jumpArcs(code.rows, height);
  const thrown = svgNode("path", { class: "stage-arc stage-thrown" }, arcs.svg);
  box.append(arcs.svg);

  const show = (now, moving, next) => {
    nodes.forEach((node, n) => node.classList.toggle("stage-now", n === now.row));
    box.querySelector("[aria-current]")?.removeAttribute("aria-current");
    nodes[now.row]?.setAttribute("aria-current", "true");
    pointer.hidden = now.row < 0;
    pointer.classList.toggle("stage-slides", moving);
    pointer.classList.toggle("stage-raises", now.ending.startsWith("raises"));
    if (now.row >= 0) pointer.style.transform = `translateY(${now.row * height}px)`;
    const jumps = next?.call === now.call && next.row === code.rows[now.row]?.to;
    arcs.all.forEach(({ node, from }) => node.classList.toggle("stage-taken", from === now.row && jumps));
    const target = now.ending.startsWith("raises") ? code.at.get(Number(/go to (\d+)/.exec(now.handler)?.[1])) : null;
    thrown.setAttribute("d", target == null ? "" : arcPath(now.row, target, 1, height));
  };
  const hint = (rows) => nodes.forEach((node, n) => node.classList.toggle("stage-hinted", rows.includes(code.rows[n])));
  return { box, show, hint, rows: code.rows, height, top: (row) => row * height };
}

const nextAt = (script, code, offset) => (at) => {
  const is = (t) => script.codes[t.code] === code && t.offset === offset;
  const later = script.tracks.findIndex((t, n) => n > at && is(t));
  return later >= 0 ? later : script.tracks.findIndex(is);
};

/** Short jumps lie inside, longer ones around them. */
function jumpArcs(rows, height) {
  const svg = svgNode("svg", { class: "stage-arcs", width: 34, height: rows.length * height, "aria-hidden": "true" });
  const jumps = rows.map((row, from) => ({ from, to: row.to })).filter(({ to }) => to >= 0);
  jumps.sort((a, b) => Math.abs(a.from - a.to) - Math.abs(b.from - b.to));
  const placed = [];
  for (const jump of jumps) {
    const [low, high] = [Math.min(jump.from, jump.to), Math.max(jump.from, jump.to)];
    const inside = placed.filter((one) => one.low <= high && one.high >= low);
    jump.level = Math.min(ARC.levels - 1, inside.reduce((most, one) => Math.max(most, one.level + 1), 0));
    Object.assign(jump, { low, high });
    placed.push(jump);
    jump.node = svgNode("g", { class: "stage-jump" }, svg);
    svgNode("path", { class: "stage-arc", d: arcPath(jump.from, jump.to, jump.level, height) }, jump.node);
    svgNode("path", { class: "stage-tip", d: `M34 ${(jump.to + 0.5) * height}l-7 -4v8z` }, jump.node);
  }
  return { svg, all: jumps };
}

function arcPath(from, to, level, height) {
  const down = to > from;
  const [y1, y2] = [(from + 0.5) * height + (down ? 3 : -3), (to + 0.5) * height];
  const [x, out, turn] = [28, ARC.first - 8 - level * ARC.step, down ? 5 : -5];
  return `M${x + 4} ${y1}H${out + 5}Q${out} ${y1} ${out} ${y1 + turn}V${y2 - turn}Q${out} ${y2} ${out + 5} ${y2}H${x}`;
}
