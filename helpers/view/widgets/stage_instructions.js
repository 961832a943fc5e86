// The instructions of the function that runs: a pointer that moves, jumps as arcs in the gutter.

const MORE = 15; // pixels of the line that counts the rows above or below
const ROW = { least: 17, most: 20 };
const MOST_LETTERS = 34; // of a row, for which the column gets room
const LONG_OPNAME = 15; // letters; of a longer one the first part gives way, the last one stays

function instructionPane(script, go, links, room) {
  const pane = makePane("instructions", "Instructions");
  const box = makeScroll(make("div", "stage-rows", ""), "Instructions");
  const guard = make("div", "stage-guard", "");
  const guarded = script.tracks.some((step) => script.words[step.handler]);
  const [above, below] = [make("div", "stage-more", ""), make("div", "stage-more", "")];
  pane.body.append(above, box, below);
  if (guarded) pane.body.append(guard);
  const lists = new Map();
  let [shown, current] = [null, -1];

  const listOf = (code) => {
    if (!lists.has(code)) lists.set(code, instructionList(code, script, go, links, room - (guarded ? 74 : 38)));
    return lists.get(code);
  };
  /** Whole rows only; what lies above and below the window is counted. */
  const tidy = () => {
    if (!shown) return;
    const all = shown.rows.length;
    const room = pane.body.clientHeight - (guarded ? guard.offsetHeight : 0);
    const cut = all * shown.height > room;
    const seen = cut ? Math.max(3, Math.floor((room - 2 * MORE) / shown.height)) : all;
    for (const node of [above, below]) node.hidden = !cut;
    box.style.height = `${seen * shown.height}px`;
    if (current >= 0) follow(box, shown.top(current), shown.height, true);
    count();
  };
  const count = () => {
    const first = Math.round(box.scrollTop / shown.height);
    const last = first + Math.round(box.clientHeight / shown.height) - 1;
    const exits = leaveWindow(shown.jumps, shown.height, first, last);
    const rest = [first, shown.rows.length - 1 - last];
    [above, below].forEach((node, n) => {
      const to = exits[n].map((row) => `${"↑↓"[n]} ${shown.rows[row].offset}`).slice(0, 3);
      node.replaceChildren(make("b", "", to.join("  ")), make("span", "", rest[n] > 0 ? `… ${rest[n]} more` : ""));
    });
  };
  box.addEventListener("scroll", () => shown && count());
  new ResizeObserver(tidy).observe(pane.body);
  const show = (now, moving, after) => {
    if (now.code && shown !== listOf(now.code)) {
      [shown, current] = [listOf(now.code), now.row];
      box.replaceChildren(shown.box);
      box.scrollTop = 0;
      tidy();
    }
    pane.aside.textContent = script.codes.length > 1 && now.code ? `of ${now.code.name}` : "caches hidden";
    shown?.show(now, moving, after);
    current = now.row;
    if (shown && current >= 0) follow(box, shown.top(current), shown.height, !moving);
    if (shown) count();
    guard.textContent = now.handler ? `⚑ on an exception: ${now.handler}` : "";
  };
  links.onRows((rows) => shown?.hint(rows), () => shown?.rows ?? []);
  return { box: pane.box, show };
}

function instructionList(code, script, go, links, room) {
  const height = Math.max(ROW.least, Math.min(ROW.most, Math.floor(room / code.rows.length)));
  const box = make("div", "stage-listed", "", { style: `height:${height * code.rows.length}px` });
  box.style.setProperty("--gutter", `${gutterOf(code, script)}px`);
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
    node.append(make("i", "", String(row.offset)), opcode(row.opname), make("em", "", row.argument), make("small", "", ""));
    node.classList.toggle("stage-jumps", row.to >= 0);
    node.dataset.name = row.opname;
    node.title = `${row.offset} ${row.opname} ${row.argument}`.trim();
    if (ran.has(row.offset)) {
      node.classList.add("stage-used");
      node.addEventListener("click", () => go(nextAt(script, code, row.offset)));
    } else node.title += ": not run in any step here";
    node.addEventListener("mouseenter", () => links.atRow(row));
    node.addEventListener("mouseleave", () => links.atRow(null));
    box.append(node);
    return node;
  });
  const arcs = jumpArcs(code.rows, height);
  const thrown = svgNode("path", { class: "stage-arc stage-thrown" }, arcs.svg);
  box.append(arcs.svg);

  const show = (now, moving, after) => {
    nodes.forEach((node, n) => node.classList.toggle("stage-now", n === now.row));
    box.querySelector("[aria-current]")?.removeAttribute("aria-current");
    nodes[now.row]?.setAttribute("aria-current", "true");
    pointer.hidden = now.row < 0;
    pointer.classList.toggle("stage-slides", moving);
    pointer.classList.toggle("stage-raises", now.ending.startsWith("raises"));
    if (now.row >= 0) pointer.style.transform = `translateY(${now.row * height}px)`;
    const known = after && !now.ending;
    const jumps = known && after.row === code.rows[now.row]?.to;
    for (const { node, from } of arcs.all) {
      node.classList.toggle("stage-taken", from === now.row && jumps);
      node.classList.toggle("stage-untaken", from === now.row && known && !jumps);
    }
    const raised = now.ending.startsWith("raises") ? code.at.get(Number(/go to (\d+)/.exec(now.handler)?.[1])) : null;
    thrown.setAttribute("d", raised == null ? "" : arcPath(now.row, raised, 1, height));
    const target = raised ?? (jumps ? after.row : -1);
    nodes.forEach((node, n) => {
      node.classList.toggle("stage-target", n === target);
      node.classList.toggle("stage-thrower", n === now.thrower);
      node.lastChild.textContent = n === now.thrower ? "✕ raised" : n === now.row && known && !jumps && code.rows[n].to >= 0 ? "not taken" : "";
    });
  };
  const hint = (rows) => nodes.forEach((node, n) => node.classList.toggle("stage-hinted", rows.includes(code.rows[n])));
  return { box, show, hint, rows: code.rows, jumps: arcs.all, height, top: (row) => row * height };
}

const gutterOf = (code, script) => (code.rows.some((row) => row.to >= 0) || script.words.some((words) => words.startsWith("go to ")) ? 34 : 6);

/** The width that the column needs: pixels of what is no letter, and letters of the longest row. */
function reserveWidth(main, script) {
  const long = ({ opname, argument, to }) => (to < 0 ? Math.max(LONG_OPNAME, opname.length) : opname.length) + argument.length;
  const most = (of) => Math.max(...script.codes.map(of));
  main.style.setProperty("--fixed", `${most((code) => gutterOf(code, script)) + 71}px`);
  main.style.setProperty("--letters", Math.min(MOST_LETTERS, most((code) => Math.max(...code.rows.map(long)))));
}

function opcode(opname) {
  const node = make("span", "", "");
  const last = opname.length > LONG_OPNAME ? opname.search(/_(IF_)?(NOT_)?[A-Z]+$/) : -1;
  if (last < 0) node.append(opname);
  else node.append(make("s", "", opname.slice(0, last)), opname.slice(last));
  return node;
}

const nextAt = (script, code, offset) => (at) => {
  const is = (t) => script.codes[t.code] === code && t.offset === offset;
  const later = script.tracks.findIndex((t, n) => n > at && is(t));
  return later >= 0 ? later : script.tracks.findIndex(is);
};
