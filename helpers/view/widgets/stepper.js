// A timeline, stepped through in the page. State: title, note, lines, frames, strings, groups,
// panels, index. A panel is a list of groups, a group a list of strings (see pieces.py).
// Panels' HTML comes escaped from our own Python views; every other string is set as text.

const GHOSTS = 8; // hidden panels per place that hold its height, the longest first
const TITLED_PLACES = 6; // up to here a panel keeps its place by title, beyond it by position
const PACE = 900; // milliseconds a step is shown while playing
const LONG_SOURCE = 24; // lines; a longer source scrolls by itself
const names = (globalThis[Symbol.for("course.stepper.names")] ??= new Set());

/** Panels put together from their pieces, each when it is asked for; `size` without doing so. */
function makePool(strings, groups, panels) {
  const lengths = groups.map((group) => group.reduce((sum, n) => sum + strings[n].length, 0));
  const sizes = panels.map((parts) => parts.flat().reduce((sum, g) => sum + lengths[g], 0));
  const made = new Map();
  const join = (numbers) => numbers.map((g) => groups[g].map((n) => strings[n]).join("")).join("");
  const whole = (parts) => parts.map((numbers, i) => (i % 2 ? asImage(join(numbers)) : join(numbers)));
  const get = (key) => {
    if (!made.has(key)) made.set(key, whole(panels[key]).join(""));
    return made.get(key);
  };
  return { get, size: (key) => sizes[key] };
}

function asImage(svg) {
  let bytes = "";
  for (const byte of new TextEncoder().encode(svg)) bytes += String.fromCharCode(byte);
  return `data:image/svg+xml;base64,${btoa(bytes)}`;
}

/** A name that no other stepper on this page has: "title", "title (2)", … */
function claimName(title) {
  let name = title || "Stepper";
  for (let n = 2; names.has(name); n++) name = `${title || "Stepper"} (${n})`;
  names.add(name);
  return name;
}

/** A line's number; where a step is about that line, a button that goes to the next such step. */
function lineNumber(n, used, jump) {
  if (!used.has(n)) return make("span", "course-number", String(n));
  const label = `Go to the next step on line ${n}`;
  const node = make("button", "course-number", String(n), { type: "button", "aria-label": label });
  node.addEventListener("click", () => jump(n));
  return node;
}

function sourceBox(lines, used, jump) {
  const box = make("div", "course-source", "");
  if (lines.length > LONG_SOURCE) {
    box.classList.add("course-scrolls");
    for (const [k, v] of [["tabindex", "0"], ["role", "group"], ["aria-label", "Source"]])
      box.setAttribute(k, v);
  }
  const rows = lines.map((line, i) => {
    const row = make("div", "course-line", "");
    const mark = make("span", "course-mark", "");
    row.append(mark, lineNumber(i + 1, used, jump), make("code", "", line || " "));
    box.append(row);
    return row;
  });
  let current = null;
  const point = (number) => {
    current?.removeAttribute("aria-current");
    if (current) current.firstChild.textContent = "";
    current = rows[number - 1] ?? null;
    current?.setAttribute("aria-current", "step");
    if (!current) return;
    current.firstChild.textContent = "▶";
    const top = current.offsetTop - box.offsetTop;
    const seen = top >= box.scrollTop && top + current.offsetHeight <= box.scrollTop + box.clientHeight;
    if (!seen) box.scrollTop = top - box.clientHeight / 3;
  };
  return { box, point };
}

/** Panels' places: each keeps the room of its largest content, so that nothing jumps. */
function panelPlaces(frames, pool) {
  const titles = new Set(frames.flatMap(([, , panels]) => panels.map(([title]) => title)));
  const byTitle = titles.size <= TITLED_PLACES;
  const place = (title, i) => (byTitle && title ? title : `#${i}`);
  const wanted = new Map();
  for (const [, , panels] of frames)
    panels.forEach(([title, key], i) => {
      const at = place(title, i);
      wanted.set(at, (wanted.get(at) ?? new Set()).add(key));
    });

  const box = make("div", "course-panels", "");
  const parts = new Map();
  for (const [at, keys] of wanted) {
    const part = make("div", "course-panel", "");
    const heading = make("div", "course-heading", "");
    const stack = make("div", "course-stack", "");
    const longest = [...keys].sort((a, b) => pool.size(b) - pool.size(a)).slice(0, GHOSTS);
    for (const key of longest) stack.append(ghost(pool.get(key)));
    const shown = make("div", "course-shown", "");
    stack.append(shown);
    part.append(heading, stack);
    box.append(part);
    parts.set(at, { part, heading, stack, shown, key: -1, longest: new Set(longest) });
  }

  const show = (panels) => {
    const rest = new Set(parts.keys());
    panels.forEach(([title, key], i) => {
      const at = place(title, i);
      rest.delete(at);
      fill(parts.get(at), title, key, pool);
    });
    for (const [at, { part }] of parts) part.classList.toggle("course-absent", rest.has(at));
  };
  return { box, show, tidy: () => parts.forEach(({ stack }) => reachable(stack)) };
}

function ghost(markup) {
  const node = make("div", "course-ghost", "", { "aria-hidden": "true" });
  node.innerHTML = markup;
  return node;
}

function fill(place, title, key, pool) {
  place.heading.textContent = title;
  if (place.key === key) return;
  const open = place.shown.querySelector("details")?.open ?? false;
  const before = place.stack.offsetHeight;
  place.shown.innerHTML = pool.get(key);
  place.key = key;
  for (const details of place.shown.querySelectorAll("details")) details.open = open;
  if (place.stack.offsetHeight > before && before && !place.longest.has(key)) {
    place.longest.add(key); // taller than was reserved for: keep this room from now on
    place.stack.prepend(ghost(pool.get(key)));
  }
}

/** What scrolls sideways must be reachable by keyboard. */
function reachable(stack) {
  const scrolls = stack.scrollWidth > stack.clientWidth + 1;
  if (scrolls) stack.setAttribute("tabindex", "0");
  else stack.removeAttribute("tabindex");
}

function controls(total, go) {
  const bar = make("div", "course-controls", "");
  const button = (words, step) => {
    const node = make("button", "course-button", words, { type: "button" });
    node.addEventListener("click", () => go(step));
    bar.append(node);
    return node;
  };
  const first = button("First", () => 0);
  const back = button("Back", (i) => i - 1);
  const next = button("Next", (i) => i + 1);
  const last = button("Last", () => total - 1);
  const slider = make("input", "course-slider", "", {
    type: "range", min: 1, max: total, step: 1, value: 1, "aria-label": "Step",
  });
  slider.addEventListener("input", () => go(() => Number(slider.value) - 1));
  bar.append(slider);
  const play = player(button, go, total);
  const show = (i, words) => {
    slider.value = i + 1;
    slider.setAttribute("aria-valuetext", words);
    // aria-disabled, not disabled: a disabled button would drop the keyboard's focus
    for (const node of [first, back]) node.setAttribute("aria-disabled", String(i === 0));
    for (const node of [next, last]) node.setAttribute("aria-disabled", String(i === total - 1));
  };
  return { bar, slider, show, stop: play.stop };
}

/** A button that goes on by itself, until it is pressed again or the last step is reached. */
function player(button, go, total) {
  if (total < 3) return { stop: () => {} };
  let timer = 0;
  const node = button("Play", (i) => (timer ? i : i === total - 1 ? 0 : i + 1));
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    node.textContent = "Play";
  };
  node.addEventListener("click", () => {
    if (timer) return stop();
    node.textContent = "Pause";
    timer = setInterval(() => go((i) => (i >= total - 2 && stop(), i + 1)), PACE);
  });
  return { stop };
}

const KEYS = {
  ArrowLeft: (i) => i - 1, ArrowUp: (i) => i - 1, PageUp: (i) => i - 1,
  ArrowRight: (i) => i + 1, ArrowDown: (i) => i + 1, PageDown: (i) => i + 1,
  Home: () => 0, End: () => Infinity,
};

/** Keys inside `root` are ours; JupyterLab would move between cells, so we listen before it. */
function listen(root, slider, go, signal) {
  const onKey = (event) => {
    if (!root.contains(event.target)) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const move = KEYS[event.key];
    if (!move && event.key !== "Enter" && event.key !== " ") return;
    event.stopPropagation();
    if (!move || event.target === slider || event.target.closest(".course-scrolls")) return;
    event.preventDefault();
    go(move);
  };
  window.addEventListener("keydown", onKey, { capture: true, signal });
}

function render({ model, el }) {
  const [lines, frames] = ["lines", "frames"].map((name) => model.get(name));
  const pool = makePool(...["strings", "groups", "panels"].map((name) => model.get(name)));
  const name = claimName(model.get("title"));
  const closing = new AbortController();
  const root = make("div", "course-stepper", "", { role: "group", "aria-label": name });
  if (model.get("title")) root.append(make("div", "course-title", model.get("title")));
  if (model.get("note")) root.append(make("div", "course-note", model.get("note")));
  el.append(root);
  const leave = () => (closing.abort(), names.delete(name));
  if (!frames.length) return leave;

  const at = () => Math.max(0, Math.min(frames.length - 1, model.get("index")));
  const go = (step) => {
    const index = Math.max(0, Math.min(frames.length - 1, step(at())));
    if (index === at()) return;
    model.set("index", index);
    save(model);
  };
  const bar = controls(frames.length, go);
  const status = makeStatus();
  const nextOn = (line) => (i) => {
    const later = frames.findIndex(([, at], n) => n > i && at === line);
    return later >= 0 ? later : frames.findIndex(([, at]) => at === line);
  };
  const used = new Set(frames.map(([, line]) => line));
  const source = sourceBox(lines, used, (line) => go(nextOn(line)));
  const panels = panelPlaces(frames, pool);
  const body = make("div", "course-body", "");
  if (lines.length) body.append(source.box);
  body.append(panels.box);
  root.append(bar.bar, status, body);

  const draw = () => {
    const [label, line, shown] = frames[at()];
    const words = `Step ${at() + 1} of ${frames.length}: ${label}`;
    status.textContent = words;
    bar.show(at(), words);
    source.point(line);
    panels.show(shown);
    panels.tidy();
  };
  model.on("change:index", draw);
  const sizes = new ResizeObserver(panels.tidy);
  sizes.observe(root);
  listen(root, bar.slider, go, closing.signal);
  draw();
  return () => {
    bar.stop();
    model.off("change:index", draw);
    sizes.disconnect();
    leave();
  };
}

export default { render };
