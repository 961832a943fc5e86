// A run on a stage: what is about to run, what it works on, and every step at once below.

const STAGE_ROOM = 290; // pixels of height for what stands side by side
const LONG_LINE = 34; // letters; longer ones get more room and smaller letters
const names = (globalThis[Symbol.for("course.stage.names")] ??= new Set());

/** A name that no other stage on this page has: "title", "title (2)", … */
function claimName(title) {
  let name = title || "Stage";
  for (let n = 2; names.has(name); n++) name = `${title || "Stage"} (${n})`;
  names.add(name);
  return name;
}

/** The parts that this script has something for, in their columns. */
function makeParts(script, go) {
  const links = makeLinks();
  const has = (name) => script.tracks.some((step) => step[name]?.length);
  const columns = [make("div", "stage-left", ""), make("div", "stage-middle", ""), make("div", "stage-right", "")];
  const parts = {};
  const add = (name, column, part) => {
    parts[name] = part;
    columns[column].append(part.box);
  };
  const stacked = script.tracks.some((step) => step.stack);
  const deck = deckPane(script);
  if (script.lines.length) add("source", 0, sourcePane(script, go, links));
  if (script.printed) add("printed", 0, printedPane(script));
  if (script.codes.length) add("instructions", 1, instructionPane(script, go, links, STAGE_ROOM));
  const locals = script.codes.length ? localsPane(script) : null;
  const room = STAGE_ROOM - 36 - (locals?.height ?? 0) - (has("cards") ? 0 : deck.height);
  const least = script.picture ? 132 : room; // below a source that is seen whole
  if (stacked) add("stack", locals ? 2 : script.picture ? 0 : 1, stackPane(script, Math.max(110, Math.min(least, room))));
  if (locals) add("locals", 2, locals);
  if (has("cards")) add("cards", 2, cardsPane(script));
  else if (deck.height) add("deck", 2, deck);
  if (script.picture) add("picture", 2, picturePane(script));
  if (has("panels")) add("panels", 2, panelPlaces(script));
  const main = make("div", "stage-main", "");
  const used = columns.filter((column) => column.children.length);
  main.append(...used);
  main.classList.add(`stage-of-${used.length}`, script.codes.length ? "stage-machine" : "stage-plain");
  if (parts.instructions) reserveWidth(main, script);
  const longest = Math.max(0, ...script.lines.map((line) => line.length));
  main.classList.toggle("stage-long-lines", longest > LONG_LINE);
  return { main, parts, over: used.at(-1) ?? main };
}

/** Where values of the step before come from and go to, when one step forward is taken. */
function travel(motion, parts, before, moved, was) {
  const row = before.code?.rows[before.row];
  if (!row || !moved) return;
  const home = (name) => {
    const node = parts.locals?.home(name);
    return node ? motion.rect(node) : null;
  };
  const stored = row.opname.startsWith("STORE_FAST") ? home(row.argument) : null;
  moved.gone.forEach(({ value }) => {
    const from = was.get(value.key);
    if (!from || value.words === "NULL") return;
    motion.fly(from, stored ?? { ...from, x: from.x + from.w + 10, w: 100 }, value.words, true);
  });
  const loaded = row.opname.startsWith("LOAD_FAST") ? home(row.argument) : row.opname.startsWith("LOAD_") ? was.get("lit") : null;
  moved.fresh.forEach(({ value, block }) => motion.arrive(block, value.words === "NULL" ? null : loaded, value.words, before.taken > 0));
}

/** What a call returns or yields travels from the top of its stack to that of its caller. */
function travelDown(motion, parts, before, now, was) {
  const value = before.stack?.at(-1);
  const from = value && ["returns", "yields"].some((does) => before.ending === `${does} ${value.words}`) ? was.get(value.key) : null;
  const to = parts.stack?.blocks.get(now.stack?.at(-1)?.key);
  if (from && to?.classList.contains("stage-fresh")) motion.arrive(to, from, value.words, false);
}

function render({ model, el }) {
  const script = readScript(model.get("script"));
  const name = claimName(script.title);
  const closing = new AbortController();
  const root = make("div", "course-stage", "", { role: "group", "aria-label": name });
  const top = make("div", "stage-top-row", "");
  if (script.title) top.append(make("div", "stage-title", script.title));
  if (script.note) top.append(make("div", "stage-note", script.note));
  root.append(top);
  el.append(root);
  const leave = () => (closing.abort(), names.delete(name));
  if (!script.total) return leave;

  const at = () => Math.max(0, Math.min(script.total - 1, model.get("index")));
  let question = null;
  const go = (step, told = false) => {
    const index = Math.max(0, Math.min(script.total - 1, step(at())));
    if (index === at()) return;
    if (!told && index === at() + 1 && question?.ask(at())) return;
    question?.close();
    model.set("index", index);
    save(model);
  };
  const { main, parts, over } = makeParts(script, go);
  const asks = script.total > 1 && script.tracks.some((_, n) => n < 60 && answersAt(script, n));
  if (asks) question = makeQuestion(script, over, (step) => go(step, true), at);
  const strip = makeStrip(script, go);
  const remark = (words) => tell(status, script.step(at()), script.total, words);
  const controls = makeControls(script, go, question?.turn, parts.picture?.changes, remark);
  const status = makeStatus("course-status stage-says");
  const key = makeKey(script);
  top.append(key.button);
  root.append(main, key.list, status, strip.box, controls.box);
  const motion = makeTravel(root);

  let drawn = -1;
  const draw = () => {
    const n = at();
    const [now, forward] = [script.step(n), n === drawn + 1 && drawn >= 0];
    const before = n ? script.step(n - 1) : null;
    const moving = forward && !CALM.matches;
    motion.stop();
    const was = new Map();
    if (moving && parts.stack) for (const [key, block] of parts.stack.blocks) was.set(key, motion.rect(block));
    if (moving && parts.source && !parts.source.lit.hidden) was.set("lit", motion.rect(parts.source.lit));
    const steady = !CALM.matches && Math.abs(n - drawn) === 1;
    const last = script.before(n);
    let moved = null;
    for (const [name, part] of Object.entries(parts)) {
      if (name === "stack") moved = part.show(now, moving, before?.call === now.call ? before : null, last, script.after(n));
      else if (name === "locals") part.show(now, moving, last);
      else if (name === "instructions") part.show(now, steady, script.after(n));
      else if (name === "picture") part.show(now, moving, before);
      else part.show(now, steady);
    }
    if (moving && before.call === now.call) travel(motion, parts, before, moved, was);
    else if (moving) travelDown(motion, parts, before, now, was);
    tell(status, now, script.total);
    strip.show(n, status.textContent);
    controls.show(n);
    parts.panels?.tidy();
    drawn = n;
  };
  model.on("change:index", draw);
  const sizes = new ResizeObserver(() => {
    parts.panels?.tidy();
    parts.source?.tidy(script.step(at()));
    reserve(status, script);
  });
  sizes.observe(root);
  if (parts.source) sizes.observe(parts.source.box); // its width changes where a prediction begins
  listen(root, go, closing.signal);
  lightWords();
  draw();
  return () => {
    controls.stop();
    motion.stop();
    model.off("change:index", draw);
    sizes.disconnect();
    leave();
  };
}

/** One sentence on the step; the number of the step is for who does not see the strip, unless a remark names it. */
function tell(status, now, total, remark = "") {
  const short = now.row >= 0 && now.code ? `${now.code.rows[now.row].opname} ${now.code.rows[now.row].argument}`.trim() : now.short;
  const number = remark ? make("span", "", `${remark} `) : make("span", "stage-unseen", `Step ${now.n + 1} of ${total}: `);
  const parts = [number, make("b", "stage-short", short)];
  if (now.says) parts.push(" ", make("span", "stage-tells", now.says));
  status.replaceChildren(...parts);
}

/** As high as the longest sentence needs at this width, so that nothing below it moves. */
function reserve(status, script) {
  if (Number(status.dataset.width) === status.clientWidth) return;
  status.dataset.width = status.clientWidth;
  const size = (step) => (script.words[step.label] ?? "").length + (script.words[step.says] ?? "").length;
  const longest = script.tracks.map((step, n) => [size(step), n]).sort((a, b) => b[0] - a[0]).slice(0, 4);
  const probe = make("div", status.className, "", { "aria-hidden": "true", style: "min-height:0;visibility:hidden" });
  status.after(probe);
  const heights = longest.map(([, n]) => (tell(probe, script.step(n), script.total), probe.offsetHeight));
  probe.remove();
  status.style.minHeight = `${Math.max(30, ...heights)}px`;
}

export default { render };
