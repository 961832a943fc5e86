// A script (JSON, see stage.py) -> its steps, each with all that it shows.

const CALM = matchMedia("(prefers-reduced-motion: reduce)");

/** The script with `step(n)`, and the same call's step `before(n)` and `after(n)`, or null. */
function readScript(text) {
  const told = JSON.parse(text);
  const tracks = told.steps;
  const word = (n) => told.words[n] ?? "";
  const value = (n) => {
    if (n < 0) return null;
    const [words, kind, same, key] = told.values[n];
    return { words: word(words), kind: word(kind), same: word(same), key };
  };
  const card = (n) => {
    const [number, name, line, state, names, stack] = told.cards[n];
    const pairs = names.map(([one, other]) => [word(one), word(other)]);
    return { number, name: word(name), line, state: word(state), names: pairs, stack: stack.map(word) };
  };
  const codes = told.codes.map((code) => {
    const rows = code.rows.map(([offset, opname, argument, lane, span, target]) => ({
      offset, opname, argument, lane, span, target,
    }));
    const at = new Map(rows.map((row, n) => [row.offset, n]));
    for (const row of rows) row.to = at.get(row.target) ?? -1;
    return { ...code, rows, at };
  });
  const states = new Map();
  const drawn = (letters) => {
    if (!states.has(letters)) {
      const pairs = told.picture.keys.map((key, i) => [key, ["", "shown", "new", "ghost"][letters[i]]]);
      states.set(letters, Object.fromEntries(pairs.filter(([, state]) => state)));
    }
    return states.get(letters);
  };
  const made = new Map();
  const step = (n) => {
    if (!made.has(n)) {
      const t = tracks[n];
      const code = t.code == null ? null : codes[t.code];
      made.set(n, {
        ...t, n, code,
        label: word(t.label), short: word(t.short), says: word(t.says), handler: word(t.handler), ending: word(t.ending), deed: word(t.deed), handed: word(t.handed),
        row: code ? code.at.get(t.offset) : -1,
        thrower: code ? (code.at.get(t.raised) ?? -1) : -1,
        stack: t.stack ? t.stack.map(value) : null,
        locals: t.locals ? t.locals.map(value) : null,
        callers: t.callers ? t.callers.map(card) : [],
        shelf: t.shelf ? t.shelf.map(card) : [],
        cards: t.cards ? t.cards.map(card) : [],
        printed: typeof t.printed === "number" ? told.printed.slice(0, t.printed) : word(t.printed?.[0]),
        picture: t.picture == null ? null : drawn(t.picture),
        panels: t.panels ?? [],
      });
    }
    return made.get(n);
  };
  const before = (n) => {
    for (let i = n - 1; i >= 0; i--) if (tracks[i].stack && tracks[i].call === tracks[n].call) return step(i);
    return null;
  };
  // a run of steps that were left out stands for steps of any call: what follows it is not known
  const after = (n) => {
    for (let i = n + 1; i < tracks.length && tracks[i].stack; i++) if (tracks[i].call === tracks[n].call) return step(i);
    return null;
  };
  return { ...told, tracks, codes, step, before, after };
}

/** A part of the stage with a heading; what stands at the heading's right can change. */
function makePane(name, title) {
  // no `section` element: on a page of slides each of those is a slide
  const box = make("div", `stage-pane stage-${name}`, "", { role: "region", "aria-label": title });
  const head = make("div", "stage-head", "");
  const aside = make("span", "stage-aside", "");
  head.append(make("span", "stage-name", title), aside);
  const body = make("div", "stage-body", "");
  box.append(head, body);
  return { box, body, aside };
}

/** What may scroll is reached by the keyboard, and keeps the arrow keys for itself. */
function makeScroll(node, label) {
  for (const [k, v] of [["tabindex", "0"], ["role", "group"], ["aria-label", label]]) node.setAttribute(k, v);
  node.classList.add("course-scrolls");
  return node;
}

/** Bring `top` … `top + height` of a scrolling box into its middle part. */
function follow(box, top, height, calmly) {
  const room = box.clientHeight;
  const edge = Math.min(room / 4, 60);
  if (top >= box.scrollTop + edge && top + height <= box.scrollTop + room - edge) return;
  const to = Math.max(0, top + height / 2 - room / 2);
  box.scrollTo({ top: to, behavior: calmly || CALM.matches ? "instant" : "smooth" });
}

function svgNode(tag, attributes, parent) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  parent?.append(node);
  return node;
}
