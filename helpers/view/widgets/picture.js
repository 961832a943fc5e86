// A picture of all steps at once (diagram/animated_graph.py), of which each step shows a part. Its parts bear
// data-key; a state says of each key that is there: shown, new, ghost (just gone) or now.
// dom.js goes before this file. The SVG comes escaped from our own Python view.

const MOVE = 250; // milliseconds that an arrow takes to its new end
const POINTS = 32; // of a line on its way
const LEAST = 9.7; // px: what the smallest text of a picture may shrink to
const MARGIN = 44; // px around what is brought into view: more than the faded edge has
const MANY = 60; // boxes; a larger picture can be zoomed
const stillOnly = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Put a picture into `host`; gives what `showPicture` needs. Nothing of it is shown yet. */
function mountPicture(host, svg) {
  const view = make("div", "course-picture-window", "");
  view.innerHTML = svg;
  host.classList.add("course-picture");
  host.replaceChildren(view);
  const drawing = view.querySelector("svg");
  const least = Math.round((LEAST / drawing.dataset.smallest) * drawing.viewBox.baseVal.width);
  drawing.style.minWidth = `${least}px`;
  const parts = new Map();
  for (const node of drawing.querySelectorAll("[data-key]")) {
    const key = node.dataset.key;
    parts.set(key, [...(parts.get(key) ?? []), node]);
  }
  const slots = new Map(); // key of an arrow -> what it is the arrow of
  for (const node of drawing.querySelectorAll("[data-slot]"))
    slots.set(node.dataset.key, node.dataset.slot);
  const changes = new Map(); // key of a part -> the name that changes where it comes or goes
  for (const node of drawing.querySelectorAll("[data-changes]"))
    changes.set(node.dataset.key, node.dataset.changes);
  if (drawing.querySelectorAll(".box").length > MANY) host.append(zoomBar(drawing, least));
  const title = drawing.querySelector("title");
  title.remove(); // it would cover the picture as a tooltip; the label says it
  const pan = movable(view);
  return { drawing, parts, slots, changes, pan, title: title.textContent, moves: new Map() };
}

/** Show one step. `animate`: arrows that led elsewhere in the `previous` state move to their ends. */
function showPicture(picture, state, previous = {}, animate = false) {
  for (const stop of [...picture.moves.values()]) stop();
  for (const [key, nodes] of picture.parts)
    for (const node of nodes) {
      if (state[key]) node.setAttribute("data-state", state[key]);
      else node.removeAttribute("data-state");
    }
  const shown = [...picture.parts].map(([key, [node]]) => said(node, state[key])).filter(Boolean);
  const words = shown.join("; ") || "nothing yet";
  picture.drawing.setAttribute("aria-label", picture.title ? `${picture.title}: ${words}` : words);
  if (animate && !stillOnly())
    for (const [from, to] of moved(picture, state, previous)) move(picture, from, to);
  const fresh = Object.keys(state).filter((key) => ["now", "new"].includes(state[key]));
  const told = fresh.flatMap((key) => picture.parts.get(key) ?? []);
  const from = told.flatMap((node) => picture.parts.get(node.dataset.from) ?? []); // whose arrow it is
  picture.pan.follow([...told, ...from]);
}

const isThere = (state, key) => state[key] && state[key] !== "ghost";

/** What a screen reader is told of one part that is there. */
function said(node, state) {
  if (!state || state === "ghost" || !node.dataset.words) return "";
  return state === "shown" ? node.dataset.words : `${state}: ${node.dataset.words}`;
}

/** Pairs of keys: an arrow that was there, and the one that has come in its place. */
function* moved({ slots }, state, previous) {
  const before = new Map();
  for (const [key, slot] of slots)
    if (isThere(previous, key) && !isThere(state, key)) before.set(slot, key);
  for (const [key, slot] of slots)
    if (isThere(state, key) && !isThere(previous, key) && before.has(slot))
      yield [before.get(slot), key];
}

function sampled(path) {
  const length = path.getTotalLength();
  return Array.from({ length: POINTS + 1 }, (_, i) => path.getPointAtLength((length * i) / POINTS));
}

function move(picture, from, to) {
  const [old, node] = [picture.parts.get(from)[0], picture.parts.get(to)[0]];
  const [line, head] = [node.querySelector(".line"), node.querySelector(".head")];
  const [last, place] = [line.getAttribute("d"), head.getAttribute("transform")];
  const [a, b] = [sampled(old.querySelector(".line")), sampled(line)];
  const labels = picture.parts.get(to).slice(1).flatMap((part) => [...part.querySelectorAll("text")]);
  let frame = 0;
  const stop = () => {
    cancelAnimationFrame(frame);
    picture.moves.delete(to);
    line.setAttribute("d", last);
    head.setAttribute("transform", place);
    for (const label of labels) label.style.opacity = "";
  };
  picture.moves.set(to, stop);
  for (const label of labels) label.style.opacity = 0;
  const begun = performance.now();
  const draw = (now) => {
    const part = Math.min(1, Math.max(0, (now - begun) / MOVE));
    if (part >= 1) return stop();
    const done = 1 - (1 - part) ** 3;
    const points = a.map((p, i) => [p.x + (b[i].x - p.x) * done, p.y + (b[i].y - p.y) * done]);
    line.setAttribute("d", `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`);
    const [x, y] = points.at(-1);
    head.setAttribute("transform", `translate(${(x + 8).toFixed(1)} ${y.toFixed(1)})`);
    frame = requestAnimationFrame(draw);
  };
  draw(begun);
}

/** A picture larger than its window: faded edges, dragging, and a view that follows what is new. */
function movable(view) {
  const about = { tabindex: "0", role: "group", "aria-label": "Picture, larger than its window" };
  const edges = () => {
    const [right, low] = [view.scrollWidth - view.clientWidth, view.scrollHeight - view.clientHeight];
    const more = { left: view.scrollLeft > 1, right: view.scrollLeft < right - 1 };
    Object.assign(more, { top: view.scrollTop > 1, bottom: view.scrollTop < low - 1 });
    for (const [side, there] of Object.entries(more)) view.classList.toggle(`course-more-${side}`, there);
    const drags = right > 1 || low > 1;
    view.classList.toggle("course-drags", drags);
    for (const [key, value] of Object.entries(about))
      if (drags) view.setAttribute(key, value);
      else view.removeAttribute(key);
  };
  let held = null;
  view.addEventListener("pointerdown", (event) => {
    const words = event.target.closest("text"); // which can be selected
    const ours = event.button === 0 && event.pointerType !== "touch" && !words;
    if (!ours || !view.classList.contains("course-drags")) return;
    held = [event.clientX + view.scrollLeft, event.clientY + view.scrollTop];
    view.setPointerCapture(event.pointerId);
  });
  view.addEventListener("pointermove", (event) => {
    if (held) view.scrollTo(held[0] - event.clientX, held[1] - event.clientY);
  });
  for (const end of ["pointerup", "pointercancel"]) view.addEventListener(end, () => (held = null));
  view.addEventListener("scroll", edges, { passive: true });
  new ResizeObserver(() => follow(last)).observe(view); // the first step is shown before it has a size
  let last = [];
  const follow = (nodes) => {
    last = nodes;
    edges();
    const placed = (some) => some.map((node) => node.getBoundingClientRect()).filter((spot) => spot.width);
    const spots = placed(nodes);
    const boxes = placed(nodes.filter((node) => node.matches('.box[data-state="new"], .box[data-state="now"]')));
    if (!spots.length || !view.classList.contains("course-drags")) return;
    const box = view.getBoundingClientRect();
    const shift = (from, to) => {
      const span = (some) => [Math.min(...some.map((s) => s[from])), Math.max(...some.map((s) => s[to]))];
      const [first, end] = span(spots);
      const fits = end - first <= box[to] - box[from] || !boxes.length; // else the arrows may lead out of sight
      const [low, high] = fits ? [first, end] : span(boxes);
      if (low < box[from]) return low - box[from] - MARGIN;
      return high > box[to] ? Math.min(high - box[to] + MARGIN, low - box[from] - MARGIN) : 0;
    };
    view.scrollBy({ left: shift("left", "right"), top: shift("top", "bottom") });
  };
  return { follow };
}

/** Buttons that make a large picture larger and smaller, or as wide as its window again. */
function zoomBar(drawing, smallest) {
  const bar = make("div", "course-picture-zoom", "", { role: "group", "aria-label": "Zoom" });
  const whole = drawing.viewBox.baseVal.width;
  const scale = (by) => {
    const wide = by ? drawing.getBoundingClientRect().width * by : 0;
    const least = Math.max(0.3 * whole, Math.min(3 * whole, wide));
    drawing.style.maxWidth = by ? "none" : "";
    drawing.style.width = by ? `${Math.round(least)}px` : "";
    drawing.style.minWidth = by ? "0" : `${smallest}px`;
  };
  const sizes = [["−", "Smaller", 0.8], ["+", "Larger", 1.25], ["Fit", "Reset", 0]];
  for (const [sign, words, by] of sizes) {
    const node = make("button", "course-button", sign, { type: "button", "aria-label": words });
    node.addEventListener("click", () => scale(by));
    bar.append(node);
  }
  return bar;
}
