// Bundled by tools/bundle_scripts.py from helpers/view/scripts/routes.js, sha256 a9f1428583259a5eb003df1f51ce3e750ed8dec24297c7d498fc0f2e6c9f95f5

// shared/elements.js
function makeElement(tag, className, text, attributes = {}) {
  const element = document.createElement(tag);
  if (className) {
    element.className = className;
  }
  if (text) {
    element.textContent = text;
  }
  setAttributes(element, attributes);
  return element;
}
function makeStatus(className = "course-status") {
  return makeElement("div", className, "", { role: "status", "aria-live": "polite" });
}
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
}

// shared/motion.js
var MOTION_MS = 250;
function prefersStillness() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// picture/arrow_motion.js
var SAMPLES = 32;
function moveArrow(picture, from, to) {
  const [oldArrow] = picture.parts.get(from);
  const [arrow, ...labelled] = picture.parts.get(to);
  const line = arrow.querySelector(".line");
  const head = arrow.querySelector(".head");
  const labels = labelled.flatMap((part) => [...part.querySelectorAll("text")]);
  const start = samplePath(oldArrow.querySelector(".line"));
  const end = samplePath(line);
  const finalPath = line.getAttribute("d");
  const finalHead = head.getAttribute("transform");
  const begun = performance.now();
  let frame = 0;
  const stop = () => {
    cancelAnimationFrame(frame);
    picture.moves.delete(to);
    line.setAttribute("d", finalPath);
    head.setAttribute("transform", finalHead);
    setOpacity(labels, "");
  };
  const draw = (now) => {
    const elapsed = Math.min(1, Math.max(0, (now - begun) / MOTION_MS));
    if (elapsed >= 1) {
      stop();
      return;
    }
    const points = interpolate(start, end, easeOut(elapsed));
    const tip = points.at(-1);
    line.setAttribute("d", joinPoints(points));
    head.setAttribute("transform", `translate(${(tip.x + 8).toFixed(1)} ${tip.y.toFixed(1)})`);
    frame = requestAnimationFrame(draw);
  };
  picture.moves.set(to, stop);
  setOpacity(labels, 0);
  draw(begun);
}
function interpolate(start, end, share) {
  return start.map(({ x, y }, i) => ({
    x: x + (end[i].x - x) * share,
    y: y + (end[i].y - y) * share
  }));
}
function easeOut(elapsed) {
  return 1 - (1 - elapsed) ** 3;
}
function joinPoints(points) {
  return `M${points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
}
function samplePath(path) {
  const length = path.getTotalLength();
  const places = Array.from({ length: SAMPLES + 1 }, (_, i) => length * i / SAMPLES);
  return places.map((place) => path.getPointAtLength(place));
}
function setOpacity(labels, opacity) {
  for (const label of labels) {
    label.style.opacity = opacity;
  }
}

// picture/states.js
function describePart(text, state) {
  if (!isThere(state) || !text) {
    return "";
  }
  return state === "shown" ? text : `${state}: ${text}`;
}
function* findMovedArrows(slots, state, previous) {
  const gone = /* @__PURE__ */ new Map();
  for (const [key, slot] of slots) {
    if (isThere(previous[key]) && !isThere(state[key])) {
      gone.set(slot, key);
    }
  }
  for (const [key, slot] of slots) {
    if (isThere(state[key]) && !isThere(previous[key]) && gone.has(slot)) {
      yield [gone.get(slot), key];
    }
  }
}
function isThere(state) {
  return Boolean(state) && state !== "ghost";
}

// picture/shifts.js
var MARGIN = 44;
function findShift(room, rectangles, boxes, near, far) {
  const whole = findExtent(rectangles, near, far);
  const fits = whole.high - whole.low <= room[far] - room[near];
  const { low, high } = fits || !boxes.length ? whole : findExtent(boxes, near, far);
  if (low < room[near]) {
    return low - room[near] - MARGIN;
  }
  if (high > room[far]) {
    return Math.min(high - room[far] + MARGIN, low - room[near] - MARGIN);
  }
  return 0;
}
function findExtent(rectangles, near, far) {
  const low = Math.min(...rectangles.map((rectangle) => rectangle[near]));
  const high = Math.max(...rectangles.map((rectangle) => rectangle[far]));
  return { low, high };
}

// picture/window.js
var FRESH_BOX = '.box[data-state="new"], .box[data-state="now"]';
var WHEN_LARGER = {
  tabindex: "0",
  role: "group",
  "aria-label": "Picture, larger than its window"
};
function makePannable(view) {
  let followed = [];
  const follow = (elements) => {
    followed = elements;
    showEdges(view);
    if (isLarger(view)) {
      bringIntoView(view, elements);
    }
  };
  letDrag(view);
  view.addEventListener("scroll", () => showEdges(view), { passive: true });
  new ResizeObserver(() => follow(followed)).observe(view);
  return { follow };
}
function isLarger(view) {
  return view.classList.contains("course-drags");
}
function showEdges(view) {
  const right = view.scrollWidth - view.clientWidth;
  const bottom = view.scrollHeight - view.clientHeight;
  view.classList.toggle("course-more-left", view.scrollLeft > 1);
  view.classList.toggle("course-more-right", view.scrollLeft < right - 1);
  view.classList.toggle("course-more-top", view.scrollTop > 1);
  view.classList.toggle("course-more-bottom", view.scrollTop < bottom - 1);
  const larger = right > 1 || bottom > 1;
  view.classList.toggle("course-drags", larger);
  if (larger) {
    setAttributes(view, WHEN_LARGER);
    return;
  }
  for (const name of Object.keys(WHEN_LARGER)) {
    view.removeAttribute(name);
  }
}
function letDrag(view) {
  let grip = null;
  const release = () => {
    grip = null;
  };
  view.addEventListener("pointerdown", (event) => {
    const onText = event.target.closest("text");
    if (event.button !== 0 || event.pointerType === "touch" || onText || !isLarger(view)) {
      return;
    }
    grip = { x: event.clientX + view.scrollLeft, y: event.clientY + view.scrollTop };
    view.setPointerCapture(event.pointerId);
  });
  view.addEventListener("pointermove", (event) => {
    if (grip) {
      view.scrollTo(grip.x - event.clientX, grip.y - event.clientY);
    }
  });
  view.addEventListener("pointerup", release);
  view.addEventListener("pointercancel", release);
}
function bringIntoView(view, elements) {
  const all = findRectangles(elements);
  const boxes = findRectangles(elements.filter((element) => element.matches(FRESH_BOX)));
  if (all.length) {
    const room = view.getBoundingClientRect();
    view.scrollBy({
      left: findShift(room, all, boxes, "left", "right"),
      top: findShift(room, all, boxes, "top", "bottom")
    });
  }
}
function findRectangles(elements) {
  const rectangles = elements.map((element) => element.getBoundingClientRect());
  return rectangles.filter(({ width }) => width);
}

// picture/zoom.js
var LIMITS = { least: 0.3, most: 3 };
var BUTTONS = [
  { sign: "−", label: "Smaller", factor: 0.8 },
  { sign: "+", label: "Larger", factor: 1.25 }
];
function makeZoomBar(drawing, leastWidth) {
  const bar = makeElement("div", "course-picture-zoom", "", {
    role: "group",
    "aria-label": "Zoom"
  });
  for (const { sign, label, factor } of BUTTONS) {
    addButton(bar, sign, label, () => resize(drawing, factor));
  }
  addButton(bar, "Fit", "Reset", () => fit(drawing, leastWidth));
  return bar;
}
function addButton(bar, sign, label, act) {
  const button = makeElement("button", "course-button", sign, {
    type: "button",
    "aria-label": label
  });
  button.addEventListener("click", act);
  bar.append(button);
}
function resize(drawing, factor) {
  const natural = drawing.viewBox.baseVal.width;
  const wanted = drawing.getBoundingClientRect().width * factor;
  const width = Math.max(LIMITS.least * natural, Math.min(LIMITS.most * natural, wanted));
  Object.assign(drawing.style, {
    maxWidth: "none",
    width: `${Math.round(width)}px`,
    minWidth: "0"
  });
}
function fit(drawing, leastWidth) {
  Object.assign(drawing.style, { maxWidth: "", width: "", minWidth: `${leastWidth}px` });
}

// picture/picture.js
var LEAST_TEXT = 9.7;
var MANY_BOXES = 60;
function mountPicture(host, svg) {
  const view = makeElement("div", "course-picture-window", "");
  view.innerHTML = svg;
  host.classList.add("course-picture");
  host.replaceChildren(view);
  const drawing = view.querySelector("svg");
  const least = Math.round(LEAST_TEXT / drawing.dataset.smallest * drawing.viewBox.baseVal.width);
  drawing.style.minWidth = `${least}px`;
  if (drawing.querySelectorAll(".box").length > MANY_BOXES) {
    host.append(makeZoomBar(drawing, least));
  }
  const title = drawing.querySelector("title");
  title.remove();
  return {
    drawing,
    title: title.textContent,
    parts: collectParts(drawing),
    slots: collectValues(drawing, "slot"),
    // key of an arrow -> what it is the arrow of
    changes: collectValues(drawing, "changes"),
    // key of a part -> the name that it comes or goes with
    pan: makePannable(view),
    moves: /* @__PURE__ */ new Map()
    // key of an arrow that moves -> what stops it
  };
}
function showPicture(picture, state, previous = {}, animate = false) {
  for (const stop of [...picture.moves.values()]) {
    stop();
  }
  for (const [key, elements] of picture.parts) {
    for (const element of elements) {
      setState(element, state[key]);
    }
  }
  describePicture(picture, state);
  if (animate && !prefersStillness()) {
    for (const [from, to] of findMovedArrows(picture.slots, state, previous)) {
      moveArrow(picture, from, to);
    }
  }
  followFresh(picture, state);
}
function collectParts(drawing) {
  const parts = /* @__PURE__ */ new Map();
  for (const element of drawing.querySelectorAll("[data-key]")) {
    const { key } = element.dataset;
    parts.set(key, [...parts.get(key) ?? [], element]);
  }
  return parts;
}
function collectValues(drawing, name) {
  const elements = [...drawing.querySelectorAll(`[data-${name}]`)];
  return new Map(elements.map(({ dataset }) => [dataset.key, dataset[name]]));
}
function setState(element, state) {
  if (state) {
    element.setAttribute("data-state", state);
  } else {
    element.removeAttribute("data-state");
  }
}
function describePicture({ drawing, parts, title }, state) {
  const described = [...parts].map(
    ([key, [element]]) => describePart(element.dataset.words, state[key])
  );
  const text = described.filter(Boolean).join("; ") || "nothing yet";
  drawing.setAttribute("aria-label", title ? `${title}: ${text}` : text);
}
function followFresh({ parts, pan }, state) {
  const keys = Object.keys(state).filter((key) => ["now", "new"].includes(state[key]));
  const fresh = keys.flatMap((key) => parts.get(key) ?? []);
  const origins = fresh.flatMap((element) => parts.get(element.dataset.from) ?? []);
  pan.follow([...fresh, ...origins]);
}

// shared/kernel.js
function save(model) {
  try {
    model.save_changes();
  } catch {
  }
}

// shared/keys.js
function keepKeys(root, signal) {
  const keepKey = (event) => {
    if (!root.contains(event.target)) {
      return;
    }
    const modified = hasModifier(event) || event.shiftKey;
    if (modified && event.key === "Enter" && event.target.matches("textarea")) {
      submitForm(event);
    } else if (!modified && isOurs(event.key)) {
      event.stopPropagation();
    }
  };
  window.addEventListener("keydown", keepKey, { capture: true, signal });
}
function hasModifier(event) {
  return event.ctrlKey || event.metaKey || event.altKey;
}
function isOurs(key) {
  return key.startsWith("Arrow") || key === "Enter" || key === " ";
}
function submitForm(event) {
  event.stopPropagation();
  event.preventDefault();
  if (!event.repeat) {
    event.target.form.requestSubmit();
  }
}

// shared/lit_words.js
var MARKED_WORDS = "code, strong, em";
var LIT_PLACES = ".stage-row, .stage-local, .box, tr";
var OUTPUTS = ".jp-OutputArea-output, .book-output";
var DRAWING_TIME = 600;
var WAITING = /* @__PURE__ */ Symbol.for("course.words");
function lightWords() {
  clearTimeout(globalThis[WAITING]);
  globalThis[WAITING] = setTimeout(prepareWords, DRAWING_TIME);
}
function prepareWords() {
  const cells = [...document.querySelectorAll(".jp-MarkdownCell, .book-cell")];
  for (const cell of cells.filter(isText)) {
    const words = [...cell.querySelectorAll(MARKED_WORDS)];
    const fresh = words.filter((word) => !word.dataset.courseWord);
    if (!fresh.length) {
      continue;
    }
    const names = new Set(findNamedBelow(cell).map(([name]) => name));
    for (const word of fresh.filter(({ textContent }) => names.has(textContent))) {
      prepareWord(word, cell);
    }
  }
}
function prepareWord(word, cell) {
  let lit = [];
  const light = () => {
    const named = findNamedBelow(cell).filter(([name]) => name === word.textContent);
    lit = named.map(([, element]) => element);
    setLight(lit, true);
  };
  const darken = () => setLight(lit, false);
  word.dataset.courseWord = "yes";
  word.tabIndex = 0;
  word.style.cssText = "text-decoration: underline dotted; text-underline-offset: 3px; cursor: help";
  word.addEventListener("mouseenter", light);
  word.addEventListener("focus", light);
  word.addEventListener("mouseleave", darken);
  word.addEventListener("blur", darken);
}
function setLight(elements, on) {
  for (const element of elements) {
    element.classList.toggle("course-lit", on);
    element.style.outline = on ? "3px solid var(--who-update, Highlight)" : "";
  }
}
function findNamedBelow(cell) {
  const outputs = cellsBelow(cell).flatMap((below) => [...below.querySelectorAll(OUTPUTS)]);
  return outputs.flatMap((output) => [...findNamed(output)]);
}
function cellsBelow(cell) {
  const found = [];
  for (let next = cell.nextElementSibling; next; next = next.nextElementSibling) {
    if (!isText(next)) {
      found.push(next);
    } else if (found.length) {
      break;
    }
  }
  return found;
}
function isText(cell) {
  return !cell.matches(".jp-CodeCell") && !cell.querySelector(".book-code");
}
function* findNamed(root) {
  for (const element of root.querySelectorAll("*")) {
    if (element.shadowRoot) {
      yield* findNamed(element.shadowRoot);
    }
    if (element.dataset?.name) {
      yield [element.dataset.name, element];
    }
    if (!element.childElementCount && !element.closest("pre, style, script, title")) {
      yield [element.textContent.trim(), element.closest(LIT_PLACES) ?? element];
    }
  }
}

// routes.js
var NARROW = 520;
var GROUPS = /* @__PURE__ */ Symbol.for("course.routes");
function render({ model, el }) {
  const closing = new AbortController();
  const root = makeElement("div", "course-route-map", "", {
    role: "group",
    "aria-label": model.get("title")
  });
  const host = makeElement("div", "", "");
  const side = makeSide(model);
  const { field, inputs } = makeChooser(model.get("headings"), model.get("index"), (index) => {
    model.set("index", index);
    save(model);
    showChange();
  });
  const body = makeElement("div", "course-route-body", "");
  body.append(host, side.box);
  root.append(makeElement("div", "course-title", model.get("title")), field, body);
  el.replaceChildren(root);
  const picture = mountPicture(host, model.get("svg"));
  fitToWidth(host, picture.drawing);
  const states = model.get("states");
  let shown = null;
  function show() {
    const index = model.get("index");
    inputs[index].checked = true;
    side.show(index);
    showPicture(picture, states[index], states[shown ?? index], shown !== null);
    shown = index;
  }
  function showChange() {
    if (model.get("index") !== shown) {
      show();
    }
  }
  model.on("change:index", showChange);
  keepKeys(root, closing.signal);
  lightWords();
  show();
  return () => closing.abort();
}
function makeChooser(headings, index, choose) {
  const field = makeElement("fieldset", "course-settings", "");
  field.append(makeElement("legend", "", "What is replaced"));
  globalThis[GROUPS] = (globalThis[GROUPS] ?? 0) + 1;
  const name = `course-routes-${globalThis[GROUPS]}`;
  const inputs = headings.map((heading, i) => {
    const label = makeElement("label", "", "");
    const input = makeElement("input", "", "", { type: "radio", name, value: i });
    input.checked = i === index;
    input.addEventListener("change", () => choose(i));
    label.append(input, makeElement("span", "", heading));
    field.append(label);
    return input;
  });
  return { field, inputs };
}
function makeSide(model) {
  const box = makeElement("div", "course-route-side", "");
  const count = makeStatus("course-route-count");
  const dots = makeElement("div", "course-route-dots", "", { "aria-hidden": "true" });
  const patches = model.get("patches").map((patch2) => patch2 || "# nothing is replaced");
  const patch = makeStack("pre", "", patches);
  const sentence = makeStack("div", "course-route-say", model.get("says"));
  const legend = makeElement("div", "course-route-legend", "");
  for (const text of model.get("legend")) {
    legend.append(makeElement("span", "", text));
  }
  box.append(count, dots, patch.box, sentence.box, legend);
  const show = (index) => {
    const number = model.get("counts")[index];
    const total = model.get("total");
    const words = number === 1 ? "call notices" : "calls notice";
    count.replaceChildren(makeElement("b", "", String(number)), ` of ${total} ${words}`);
    dots.textContent = "●".repeat(number) + "○".repeat(total - number);
    patch.shown.textContent = patches[index];
    sentence.shown.textContent = model.get("says")[index];
  };
  return { box, show };
}
function makeStack(tag, className, texts) {
  const box = makeElement("div", "course-route-stack", "");
  for (const text of texts) {
    box.append(makeElement(tag, `${className} course-ghost`, text, { "aria-hidden": "true" }));
  }
  const shown = makeElement(tag, className, "");
  box.append(shown);
  return { box, shown };
}
function fitToWidth(host, drawing) {
  const { width, height } = drawing.viewBox.baseVal;
  const least = Number.parseFloat(drawing.style.minWidth) / width;
  const fit2 = () => {
    const start = host.clientWidth < NARROW ? Number(drawing.dataset.narrow) : 0;
    drawing.setAttribute("viewBox", `${start} 0 ${width - start} ${height}`);
    drawing.setAttribute("width", width - start);
    drawing.style.minWidth = `${Math.round(least * (width - start))}px`;
  };
  new ResizeObserver(fit2).observe(host);
}
var routes_default = { render };
export {
  routes_default as default
};
