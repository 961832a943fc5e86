// Panels of any other kind: their HTML comes escaped from our own views, each different one once.

const GHOSTS = 8; // hidden panels per place that hold its height, the longest first
const TITLED_PLACES = 6; // up to here a panel keeps its place by title, beyond it by position

/** Panels' places: each keeps the room of its largest content, so that nothing jumps. */
function panelPlaces(script) {
  const pool = script.panels;
  const all = script.tracks.map((step) => step.panels ?? []);
  const titles = new Set(all.flatMap((panels) => panels.map(([title]) => title)));
  const byTitle = titles.size <= TITLED_PLACES;
  const place = (title, i) => (byTitle && title ? title : `#${i}`);
  const wanted = new Map();
  for (const panels of all)
    panels.forEach(([title, key], i) => {
      const at = place(title, i);
      wanted.set(at, (wanted.get(at) ?? new Set()).add(key));
    });

  const box = makeScroll(make("div", "stage-pane stage-panels", ""), "What each step shows");
  const parts = new Map();
  for (const [at, keys] of wanted) {
    const part = make("div", "stage-panel", "");
    const head = make("div", "stage-head", "");
    const heading = make("span", "stage-name", "");
    head.append(heading);
    const stack = make("div", "stage-over", "");
    const longest = [...keys].sort((a, b) => pool[b].length - pool[a].length).slice(0, GHOSTS);
    for (const key of longest) stack.append(ghost(pool[key]));
    const shown = make("div", "stage-shown", "");
    stack.append(shown);
    part.append(head, stack);
    box.append(part);
    parts.set(at, { part, heading, stack, shown, key: -1, longest: new Set(longest) });
  }
  const why = make("p", "stage-none stage-why", "");
  box.append(why);

  const show = (now) => {
    const rest = new Set(parts.keys());
    now.panels.forEach(([title, key], i) => {
      const at = place(title, i);
      rest.delete(at);
      fillPlace(parts.get(at), title, key, pool);
    });
    for (const [at, { part }] of parts) part.classList.toggle("stage-absent", rest.has(at));
    why.textContent = now.panels.length || script.picture ? "" : "nothing to show at this step";
  };
  return { box, show, tidy: () => parts.forEach(({ stack }) => reachable(stack)) };
}

function ghost(markup) {
  const node = make("div", "stage-ghost", "", { "aria-hidden": "true" });
  node.innerHTML = markup;
  return node;
}

function fillPlace(place, title, key, pool) {
  place.heading.textContent = title;
  if (place.key === key) return;
  const open = place.shown.querySelector("details")?.open ?? false;
  const before = place.stack.offsetHeight;
  place.shown.innerHTML = pool[key];
  place.key = key;
  for (const details of place.shown.querySelectorAll("details")) details.open = open;
  if (place.stack.offsetHeight > before && before && !place.longest.has(key)) {
    place.longest.add(key); // taller than was reserved for: keep this room from now on
    place.stack.prepend(ghost(pool[key]));
  }
}

/** One picture of all steps; each shows its part of it, and an arrow that turns moves. */
function picturePane(script) {
  const pane = makePane("drawn", script.picture.title);
  const host = make("div", "", "");
  pane.body.append(host);
  const picture = mountPicture(host, script.picture.svg);
  const from = new Map(); // key of a part -> the first step that shows it
  for (let n = script.total - 1; n >= 0; n--) for (const key of Object.keys(script.step(n).picture)) from.set(key, n);
  const show = (now, moving, before) => {
    for (const [key, nodes] of picture.parts)
      for (const node of nodes) node.classList.toggle("course-ahead", from.get(key) > now.n);
    showPicture(picture, now.picture, before?.picture ?? {}, moving);
    const told = Object.values(now.picture).some((state) => ["now", "new"].includes(state));
    const soon = Math.min(...[...from.values()].filter((n) => n > now.n)); // when the next pale parts come
    const next = [...from.keys()].filter((key) => from.get(key) === soon);
    if (!told && next.length) picture.pan.follow(next.flatMap((key) => picture.parts.get(key) ?? []));
    pane.aside.textContent = Object.keys(now.picture).length ? "" : "nothing yet: the pale ones come later";
  };
  return { box: pane.box, show, changes: picture.changes };
}

/** What scrolls sideways must be reachable by keyboard. */
function reachable(stack) {
  const scrolls = stack.scrollWidth > stack.clientWidth + 1;
  if (scrolls) stack.setAttribute("tabindex", "0");
  else stack.removeAttribute("tabindex");
}
