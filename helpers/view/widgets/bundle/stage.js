// Bundled by tools/bundle_scripts.py from helpers/view/scripts/stage.js, sha256 1cdbf145c6631d12a8aaf801579d897af08d7a40e21f5626585a0f8621bdae81

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
function makeSvgElement(tag, attributes, parent) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(element, attributes);
  parent?.append(element);
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
function setEnabled(button, enabled) {
  button.setAttribute("aria-disabled", String(!enabled));
}

// shared/kernel.js
function save(model) {
  try {
    model.save_changes();
  } catch {
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

// shared/motion.js
var MOTION_MS = 250;
function prefersStillness() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// stage/opcodes.js
var LONG_OPNAME = 15;
var MOST_LETTERS = 34;
function nameInstruction({ opname, argument }) {
  return `${opname} ${argument}`.trim();
}
function splitOpname(opname) {
  const last = opname.length > LONG_OPNAME ? opname.search(/_(IF_)?(NOT_)?[A-Z]+$/) : -1;
  return { start: opname.slice(0, Math.max(0, last)), end: opname.slice(Math.max(0, last)) };
}
function findHandlerOffset(handler) {
  return Number(/go to (\d+)/.exec(handler)?.[1]);
}
function countLetters(rows) {
  const lengths = rows.map(({ opname, argument, to }) => {
    const name = to < 0 ? Math.max(LONG_OPNAME, opname.length) : opname.length;
    return name + argument.length;
  });
  return Math.min(MOST_LETTERS, Math.max(...lengths));
}

// stage/answers.js
var MOST_ANSWERS = 4;
var APART = "  |  ";
function findQuestion(script, n) {
  if (n + 1 >= script.total) {
    return null;
  }
  const now = script.step(n);
  const next = script.step(n + 1);
  if (now.stack && next.stack && now.call === next.call && now.code) {
    return askForStack(now, next);
  }
  return askForSentence(script, now);
}
function joinStack(stack) {
  return stack.join(APART) || "(empty)";
}
function askForSentence(script, now) {
  const others = findOtherSentences(script, now);
  if (!now.says || !others.length) {
    return null;
  }
  const right = { words: now.says, why: "" };
  const heading = `What does this step do: ${now.short}?`;
  return { heading, right, answers: shuffle([right, ...others], now.n) };
}
function findOtherSentences(script, now) {
  const others = /* @__PURE__ */ new Map();
  for (let distance = 1; distance < script.total; distance++) {
    for (const n of [now.n - distance, now.n + distance]) {
      const words = n >= 0 && n < script.total - 1 ? script.step(n).says : "";
      if (words && words !== now.says && !others.has(words)) {
        others.set(words, { words, why: `that is what step ${n + 1} does` });
      }
      if (others.size === MOST_ANSWERS - 1) {
        return [...others.values()];
      }
    }
  }
  return [...others.values()];
}
function askForStack(now, next) {
  const present = now.stack.map(({ words }) => words);
  const after = next.stack.map(({ words }) => words);
  const answers = /* @__PURE__ */ new Map();
  for (const { stack, why } of guessStacks(present, after, now.taken)) {
    const words = joinStack(stack);
    if (!answers.has(words) && answers.size < MOST_ANSWERS) {
      answers.set(words, { words, stack, why });
    }
  }
  const [right] = answers.values();
  return {
    heading: "Value stack now, and after ",
    instruction: nameInstruction(now.code.rows[now.row]),
    present,
    right,
    answers: shuffle([...answers.values()], now.n)
  };
}
function guessStacks(present, after, taken) {
  const left = present.slice(0, present.length - taken);
  const pushed = after.slice(left.length);
  const does = describeEffect(taken, pushed.length);
  const swapped = [...after.slice(0, -2), ...after.slice(-2).reverse()];
  return [
    { stack: after, why: `it ${does}` },
    { stack: present, why: `it ${does}` },
    { stack: left, why: "its result goes on top" },
    { stack: [...present, ...pushed], why: `it pops ${taken} first` },
    { stack: swapped, why: "the value pushed last is on top" },
    { stack: present.slice(0, -1), why: `it ${does}` },
    { stack: [...after, after.at(-1) ?? "None"], why: `it ${does}, no more` }
  ];
}
function describeEffect(taken, pushed) {
  const parts = [taken && `pops ${taken}`, pushed && `pushes ${pushed}`];
  return parts.filter(Boolean).join(", ") || "changes nothing here";
}
function shuffle(answers, seed) {
  const addLetter = (sum, letter) => (sum * 31 + letter.codePointAt(0)) % 9973;
  const rank = ({ words }) => [...words].reduce(addLetter, seed * 7 + 1);
  return [...answers].sort((a, b) => rank(a) - rank(b));
}

// stage/steps.js
var OUTPUT = "the output";
function clampStep(typed, current, total) {
  return Number.isNaN(typed) ? current : Math.max(1, Math.min(total, Math.round(typed)));
}
function findText(script, text, at) {
  const wanted = text.toLowerCase();
  for (let distance = 1; distance <= script.total; distance++) {
    const n = (at + distance) % script.total;
    if (wordsOf(script.step(n)).includes(wanted)) {
      return n;
    }
  }
  return -1;
}
function findNextTrack({ tracks }, isWanted, at) {
  const later = tracks.findIndex((track, n) => n > at && isWanted(track));
  return later >= 0 ? later : tracks.findIndex(isWanted);
}
function findNextChange(script, name, at, changes) {
  for (let n = at + 1; n < script.total; n++) {
    if (hasChanged(script, name, n, changes)) {
      return n;
    }
  }
  return -1;
}
function hasChanged(script, name, n, changes = /* @__PURE__ */ new Map()) {
  if (!n) {
    return false;
  }
  const now = script.step(n);
  if (name === OUTPUT) {
    return now.printed !== script.step(n - 1).printed;
  }
  const keys = [...changes.keys()].filter((key) => changes.get(key) === name);
  return keys.some((key) => ["new", "ghost"].includes(now.picture[key])) || hasNewValue(name, now, script.before(n));
}
function hasNewValue(name, now, before) {
  const slot = now.code?.names.indexOf(name) ?? -1;
  if (slot < 0 || !now.locals || !before) {
    return false;
  }
  return now.locals[slot]?.words !== before.locals?.[slot]?.words;
}
function wordsOf({ label, says, stack }) {
  const values = (stack ?? []).map(({ words }) => words);
  return `${label} ${says} ${values.join(" ")}`.toLowerCase();
}

// stage/change_runner.js
function addChangeRunner(script, go, box, changes) {
  const names = /* @__PURE__ */ new Set([...script.codes.flatMap((code) => code.names), ...changes.values()]);
  const choices = [...names, ...script.printed ? [OUTPUT] : []];
  if (!choices.length) {
    return null;
  }
  const findNext = (at, name) => findNextChange(script, name, at, changes);
  const group = makeElement("span", "stage-run", "");
  const button = makeElement("button", "stage-button", "To next change of", { type: "button" });
  const select = makeElement("select", "stage-select", "", {
    "aria-label": "Name to run to the next change of"
  });
  for (const choice of choices) {
    const text = choice.replace(" (cell)", "");
    select.append(makeElement("option", "", text, { value: choice }));
  }
  select.value = choices.find((choice) => findNext(0, choice) > 0) ?? choices[0];
  group.append(button, select);
  box.append(group);
  let current = 0;
  const show = (n) => {
    current = n;
    const isThere2 = findNext(n, select.value) >= 0;
    setEnabled(button, isThere2);
    button.title = isThere2 ? "" : `${select.value} does not change after this step`;
  };
  button.addEventListener("click", () => go((at) => Math.max(at, findNext(at, select.value))));
  select.addEventListener("change", () => show(current));
  return { show };
}

// stage/controls.js
var PACE = 900;
var LEAST_TO_PLAY = 3;
var LEAST_TO_SEARCH = 6;
function makeControls(script, go, turnPredictions, changes = /* @__PURE__ */ new Map(), remark = () => {
}) {
  const { total } = script;
  const box = makeElement("div", "stage-controls", "");
  const add = (text, choose, className = "") => addButton(box, text, className, () => go(choose));
  const first = add("First", () => 0);
  const back2 = add("Back", (at) => at - 1);
  const next = add("Next", (at) => at + 1, "stage-go");
  const last = add("Last", () => total - 1);
  const player = total >= LEAST_TO_PLAY ? addPlayer(box, go, total) : null;
  const number = addNumber(box, go, total, remark);
  box.append(makeElement("span", "stage-gap", ""));
  if (total >= LEAST_TO_SEARCH) {
    addFinder(box, script, go);
  }
  const changeRunner = addChangeRunner(script, go, box, changes);
  if (turnPredictions) {
    addToggle(box, "Predict", turnPredictions);
  }
  const show = (n) => {
    number.show(n);
    for (const button of [first, back2]) {
      setEnabled(button, n > 0);
    }
    for (const button of [next, last]) {
      setEnabled(button, n < total - 1);
    }
    changeRunner?.show(n);
  };
  return { box, show, stop: () => player?.stop() };
}
function addButton(box, text, className, act) {
  const button = makeElement("button", `stage-button ${className}`, text, { type: "button" });
  button.addEventListener("click", act);
  box.append(button);
  return button;
}
function addPlayer(box, go, total) {
  let timer = 0;
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    button.textContent = "Play";
  };
  const playNext = (at) => {
    if (at >= total - 2) {
      stop();
    }
    return at + 1;
  };
  const start = () => {
    go((at) => at === total - 1 ? 0 : at + 1);
    button.textContent = "Pause";
    timer = setInterval(() => go(playNext), PACE);
  };
  const turn = () => timer ? stop() : start();
  const button = addButton(box, "Play", "stage-play", turn);
  return { stop };
}
function addNumber(box, go, total, remark) {
  const input = makeElement("input", "stage-number-of", "", {
    type: "number",
    min: 1,
    max: total,
    "aria-label": "Go to step"
  });
  const label = makeElement("label", "stage-of", "step ");
  label.append(input, ` of ${total}`);
  box.append(label);
  let current = 1;
  const show = (n) => {
    current = n + 1;
    input.value = current;
  };
  input.addEventListener("change", () => {
    const text = input.value;
    const typed = input.valueAsNumber;
    const step = clampStep(typed, current, total);
    go(() => step - 1);
    input.value = current;
    if (step !== typed) {
      const isNumber = !Number.isNaN(typed);
      const problem = isNumber ? `There is no step ${text.slice(0, 12)}` : "That is no number";
      remark(`${problem}: this is step ${current} of ${total}.`);
    }
  });
  return { show };
}
function addToggle(box, text, turn) {
  const button = makeElement("button", "stage-button", text, {
    type: "button",
    "aria-pressed": "false"
  });
  button.title = "Say what comes next before you see it";
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    turn(on);
  });
  box.append(button);
}
function addFinder(box, script, go) {
  const input = makeElement("input", "stage-find", "", {
    type: "search",
    placeholder: "find …",
    "aria-label": "Find a step with these words"
  });
  input.addEventListener("keydown", (event) => {
    const text = input.value.trim();
    if (event.key !== "Enter" || !text) {
      return;
    }
    go((at) => {
      const found = findText(script, text, at);
      if (found < 0) {
        input.setAttribute("aria-invalid", "true");
        return at;
      }
      return found;
    });
  });
  input.addEventListener("input", () => input.removeAttribute("aria-invalid"));
  box.append(input);
}

// stage/lanes.js
var NEW_LINE = "│ new line";
var RAISE_SIGN = "✕";
var MOST_RULED = 200;
var COLOUR_OF = {
  return: "quiet",
  yield: "operate",
  resume: "load",
  exception: "jump",
  break: "jump",
  graph: "operate",
  stack: "load",
  "hand over": "call"
};
function findRaises({ total, tracks, words }) {
  if (total >= MOST_RULED) {
    return [];
  }
  const steps = tracks.map((track, n) => ({ n, ending: words[track.ending] ?? "" }));
  return steps.filter(({ ending }) => ending.startsWith("raises")).map(({ n }) => n);
}
function findNewLines({ total, tracks }) {
  if (total >= MOST_RULED) {
    return [];
  }
  const steps = tracks.map((_, n) => n);
  return steps.filter((n) => n && tracks[n].line !== tracks[n - 1].line);
}
function canRule({ total, tracks }) {
  return total < MOST_RULED && tracks.some((track) => track.line);
}
function colourLane(lane) {
  const name = (COLOUR_OF[lane] ?? lane).replaceAll(/\W/g, "-");
  return `var(--stage-${name}, var(--who-${name}, var(--who-quiet)))`;
}

// stage/value_words.js
var NULL_MEANS = "NULL: an empty slot; a call of a method finds self there";
function shortenKind(kind) {
  return kind.replace("builtin_function_or_method", "builtin").replace("NoneType", "None").replace(/^type$/, "class");
}
function describeValue({ words, kind, same }) {
  const short = shortenKind(kind);
  const parts = [words.includes(short) ? "" : short, same && `is ${same}`];
  return parts.filter(Boolean).join(" · ");
}
function describeChange(value, before) {
  if (value?.words === before?.words) {
    return value ? "" : "not set";
  }
  if (!value) {
    return `unset, was ${before.words}`;
  }
  return before ? `was ${before.words}` : "new";
}

// stage/legend.js
var TITLE = "Key to the signs";
function makeLegend(script) {
  const list = makeElement("dl", "stage-key", "");
  list.hidden = true;
  for (const { sign, meaning } of listSigns(script)) {
    list.append(makeElement("dt", "", sign), makeElement("dd", "", meaning));
  }
  const button = makeElement("button", "stage-button stage-key-button", "?", {
    type: "button",
    "aria-expanded": "false",
    "aria-label": TITLE
  });
  button.title = TITLE;
  button.addEventListener("click", () => {
    list.hidden = !list.hidden;
    button.setAttribute("aria-expanded", String(!list.hidden));
  });
  return { button, list };
}
function listSigns(script) {
  const { tracks, codes, lines } = script;
  const isMachine = codes.length > 0;
  const hasStack = tracks.some((track) => track.stack);
  const hasJump = codes.some((code) => code.rows.some((row) => row.to >= 0));
  const hasCell = codes.some((code) => code.names.some((name) => name.endsWith(" (cell)")));
  const signs = [
    {
      sign: "amber",
      meaning: "now: what runs next, and what it touches",
      isUsed: true
    },
    {
      sign: "1 underlined",
      meaning: "a line of the source that runs: click its number to go there",
      isUsed: lines.length > 0
    },
    {
      sign: NEW_LINE,
      meaning: "in the strip of all steps: another source line begins, in this call or in another one",
      isUsed: canRule(script)
    },
    {
      sign: "↩ ✕",
      meaning: "the line that was just left, and how; ▶ is the one that runs next",
      isUsed: tracks.some((track) => track.left)
    },
    {
      sign: RAISE_SIGN,
      meaning: "in the strip of all steps: this step raises an exception",
      isUsed: findRaises(script).length > 0
    },
    {
      sign: "grey instruction",
      meaning: "not run in any step here",
      isUsed: isMachine
    },
    {
      sign: "dashed at the right",
      meaning: "just popped",
      isUsed: hasStack && isMachine
    },
    {
      sign: "+",
      meaning: "on a value of the stack: the next result goes here, once the value is popped",
      isUsed: hasStack
    },
    {
      sign: "NULL",
      meaning: NULL_MEANS.slice("NULL: ".length),
      isUsed: hasStack && isMachine
    },
    {
      sign: "arc",
      meaning: "a jump: thick if it is taken next, dashed if not",
      isUsed: hasJump
    },
    {
      sign: "pill",
      meaning: "a shared cell: inner functions use this variable too",
      isUsed: hasCell
    }
  ];
  return signs.filter(({ isUsed }) => isUsed);
}

// stage/motion.js
var LATE = { delay: 110, duration: 140 };
var APPEAR_AT_END = [{ opacity: 0 }, { opacity: 0, offset: 0.95 }, { opacity: 1 }];
var DROP_IN = [
  { transform: "translateY(-26px)", opacity: 0 },
  { transform: "none", opacity: 1 }
];
function makeMotion(root) {
  let running = [];
  const stop = () => {
    for (const animation of running) {
      animation.cancel();
    }
    running = [];
    for (const flight of root.querySelectorAll(".stage-flight")) {
      flight.remove();
    }
  };
  const animate = (element, frames, options = {}) => {
    const animation = element.animate(frames, {
      duration: MOTION_MS,
      easing: "cubic-bezier(.3,.1,.2,1)",
      fill: "backwards",
      ...options
    });
    running.push(animation);
    return animation;
  };
  const measure = (element) => measureIn(root, element);
  const fly = (from, to, text, fades) => {
    const flight = makeElement("div", "stage-flight", text, { "aria-hidden": "true" });
    flight.style.cssText = `left:${to.x}px;top:${to.y}px;width:${to.width}px;height:${to.height}px`;
    root.append(flight);
    const shift = `translate(${from.x - to.x}px,${from.y - to.y}px)`;
    const animation = animate(flight, [
      { transform: shift, width: `${from.width}px`, opacity: 1 },
      { transform: "none", opacity: fades ? 0 : 1 }
    ]);
    const remove = () => flight.remove();
    animation.onfinish = remove;
    animation.oncancel = remove;
  };
  const arrive = (block, from, text, isLate) => {
    if (from) {
      animate(block, APPEAR_AT_END);
      fly(from, measure(block), text, false);
    } else {
      animate(block, DROP_IN, isLate ? LATE : {});
    }
  };
  return { measure, stop, fly, arrive };
}
function measureIn(root, element) {
  const own = element.getBoundingClientRect();
  const outer = root.getBoundingClientRect();
  const scale = outer.width / root.offsetWidth || 1;
  return {
    x: (own.left - outer.left) / scale - root.clientLeft,
    y: (own.top - outer.top) / scale - root.clientTop,
    width: own.width / scale,
    height: own.height / scale
  };
}

// stage/panes.js
var WIDEST_EDGE = 60;
function makePane(name, title) {
  const box = makeElement("div", `stage-pane stage-${name}`, "", {
    role: "region",
    "aria-label": title
  });
  const head = makeElement("div", "stage-head", "");
  const aside = makeElement("span", "stage-aside", "");
  head.append(makeElement("span", "stage-name", title), aside);
  const body = makeElement("div", "stage-body", "");
  box.append(head, body);
  return { box, body, aside };
}
function makeScroll(box, label) {
  setAttributes(box, { tabindex: "0", role: "group", "aria-label": label });
  box.classList.add("course-scrolls");
  return box;
}
function follow(box, top, height, atOnce) {
  const room = box.clientHeight;
  const edge = Math.min(room / 4, WIDEST_EDGE);
  const isInside = top >= box.scrollTop + edge && top + height <= box.scrollTop + room - edge;
  if (!isInside) {
    const middle = Math.max(0, top + height / 2 - room / 2);
    const behavior = atOnce || prefersStillness() ? "instant" : "smooth";
    box.scrollTo({ top: middle, behavior });
  }
}

// stage/deck.js
var MOST_CARDS = 4;
var TALL_CARDS = 2;
var CARD_HEIGHT = { low: 26, tall: 44 };
var HEADING_HEIGHT = 31;
var DEEPEST = 4;
function makeDeckPane(script) {
  const waiting = makePane("waiting", "Calls below");
  const shelf = makePane("shelf", "Shelf");
  const mostWaiting = Math.max(0, ...script.tracks.map((track) => track.callers?.length ?? 0));
  const mostOnShelf = Math.max(0, ...script.tracks.map((track) => track.shelf?.length ?? 0));
  const rows = Math.min(MOST_CARDS, Math.max(mostWaiting, mostOnShelf));
  const isTall = rows <= TALL_CARDS;
  const room = rows * (isTall ? CARD_HEIGHT.tall : CARD_HEIGHT.low);
  const box = makeElement("div", "stage-pane stage-deck", "");
  box.classList.toggle("stage-tall-cards", isTall);
  if (mostWaiting) {
    box.append(waiting.box);
  }
  if (mostOnShelf) {
    box.append(shelf.box);
  }
  for (const pane of [waiting, shelf]) {
    pane.body.style.height = `${room}px`;
  }
  const show = ({ now }) => {
    fillPane(waiting, [...now.callers].reverse(), "none: this is the first");
    fillPane(shelf, now.shelf, "empty");
    waiting.aside.textContent = now.callers.length ? `${now.callers.length} waiting` : "";
    shelf.aside.textContent = now.shelf.length ? "frames put aside" : "";
  };
  return { box, show, height: rows ? room + HEADING_HEIGHT : 0 };
}
function fillPane(pane, cards, none) {
  const shown = cards.length > MOST_CARDS ? MOST_CARDS - 1 : cards.length;
  const rest = cards.length - shown;
  pane.body.replaceChildren(...cards.slice(0, shown).map(drawCard));
  if (rest) {
    pane.body.append(makeElement("p", "stage-none", `and ${rest} more below`));
  }
  if (!cards.length) {
    pane.body.append(makeElement("p", "stage-none", none));
  }
}
function drawCard(card, depth) {
  const element = makeElement("div", "stage-card", "", {
    style: `--depth:${Math.min(depth, DEEPEST)}`
  });
  const content = describeContent(card);
  const place2 = `${card.name}, call ${card.number}, ${card.state} at line ${card.line}`;
  element.append(
    makeElement("b", "", card.name),
    makeElement("small", "", `line ${card.line}`),
    makeElement("span", "", content || "no locals yet")
  );
  element.title = content ? `${place2} · ${content}` : place2;
  return element;
}
function describeContent({ names, stack }) {
  const variables = names.map(([name, value]) => `${name} = ${value}`).join(", ");
  const values = stack.length ? `keeps ${stack.join(", ")}` : "";
  return [variables, values].filter(Boolean).join(" · ");
}

// stage/frames.js
var MOST_CARDS2 = 5;
var CARD_HEIGHT2 = 62;
var EDGE = 8;
var HANDED_HEIGHT = 38;
function makeFramesPane(script) {
  const stack = makePane("cards", "Frames");
  const shelf = makePane("cards", "Shelf");
  const box = makeElement("div", "stage-frames", "");
  box.append(stack.box);
  if (script.tracks.some((track) => track.shelf?.length)) {
    box.append(shelf.box);
  }
  const most = Math.max(1, ...script.tracks.map((track) => track.cards?.length ?? 0));
  const handsDown = script.tracks.some((track) => script.words[track.handed]);
  const rest = handsDown ? HANDED_HEIGHT : EDGE;
  for (const pane of [stack, shelf]) {
    pane.body.style.height = `${Math.min(most, MOST_CARDS2) * CARD_HEIGHT2 + rest}px`;
    pane.body.classList.add("stage-pile");
  }
  makeScroll(stack.body, "Frames");
  stack.aside.textContent = "newest on top";
  shelf.aside.textContent = "kept by generators";
  const show = ({ now, steady }) => {
    const places = measureCards(box);
    const arrived = [...fillPile(stack, now.cards, now.handed), ...fillPile(shelf, now.shelf)];
    if (steady) {
      for (const card of arrived) {
        letArrive(card, places.get(card.dataset.key));
      }
    }
    stack.body.scrollTop = -stack.body.scrollHeight;
  };
  return { box, show };
}
function measureCards(box) {
  const cards = [...box.querySelectorAll(".stage-frame")];
  return new Map(cards.map((card) => [card.dataset.key, card.getBoundingClientRect()]));
}
function fillPile(pane, cards, handed = "") {
  const known = new Map([...pane.body.children].map((child) => [child.dataset.key, child]));
  const arrived = [];
  const pile = cards.map((card, n) => {
    const key = String(card.number);
    const element = known.get(key) ?? makeElement("div", "stage-frame", "");
    element.dataset.key = key;
    fillCard(element, card, n === cards.length - 1 && card.state !== "suspended");
    if (!known.has(key)) {
      arrived.push(element);
    }
    return element;
  });
  if (!pile.length) {
    pile.push(makeElement("p", "stage-none", "empty"));
  }
  if (handed) {
    const value = drawHandedDown(handed);
    const isBelowTop = cards.at(-1)?.state === "leaving";
    pile.splice(isBelowTop ? -1 : pile.length, 0, value);
    arrived.push(value);
  }
  pane.body.replaceChildren(...pile.reverse());
  return arrived;
}
function letArrive(card, from) {
  const to = card.getBoundingClientRect();
  const start = from ? { transform: `translate(${from.left - to.left}px, ${from.top - to.top}px)`, opacity: 1 } : { transform: "translateY(-24px)", opacity: 0 };
  card.animate([start, { transform: "none", opacity: 1 }], { duration: MOTION_MS });
}
function drawHandedDown(words) {
  const element = makeElement("div", "stage-handed", "");
  element.append(makeElement("small", "", "↓ handed down"), makeElement("b", "", words));
  element.title = `${words}: on its way to the caller`;
  return element;
}
function fillCard(element, card, isTop) {
  element.classList.toggle("stage-top", isTop);
  element.classList.toggle("stage-leaving", card.state.startsWith("leaving"));
  const head = makeElement("div", "stage-frame-head", "");
  head.append(
    makeElement("b", "", card.name),
    makeElement("span", "", card.line ? `line ${card.line}` : ""),
    makeElement("small", "", card.state)
  );
  const variables = makeElement("div", "stage-frame-names", "");
  for (const [name, words] of card.names) {
    const pair = makeElement("span", "stage-pair", "");
    pair.append(makeElement("b", "", name), makeElement("span", "", words));
    pair.title = `${name} = ${words}`;
    variables.append(pair);
  }
  if (!card.names.length) {
    variables.append(makeElement("small", "", "no locals yet"));
  }
  element.replaceChildren(head, variables);
}

// stage/arc_layout.js
var GUTTER = 34;
var FIRST_LEVEL = 18;
var LEVEL_WIDTH = 7;
var LEVELS = 3;
var ROW_SHIFT = 4;
var CURVE = 5;
function layOutJumps(rows) {
  const jumps = rows.map(({ to }, from) => ({
    from,
    to,
    low: Math.min(from, to),
    high: Math.max(from, to)
  }));
  const found = jumps.filter(({ to }) => to >= 0);
  found.sort((a, b) => a.high - a.low - (b.high - b.low));
  const placed = [];
  return found.map((jump) => {
    const inside = placed.filter(({ low, high }) => low <= jump.high && high >= jump.low);
    const level = Math.max(0, ...inside.map((other) => other.level + 1));
    const crowded = level >= LEVELS;
    const laidOut = { ...jump, level: Math.min(LEVELS - 1, level), crowded };
    if (!crowded) {
      placed.push(laidOut);
    }
    return laidOut;
  });
}
function makeArcPath(from, to, level, height) {
  const down = to > from;
  const start = (from + 0.5) * height + (down ? ROW_SHIFT : -ROW_SHIFT);
  const end = (to + 0.5) * height;
  const turn = down ? CURVE : -CURVE;
  const outer = leftOf(level);
  const inner = outer + CURVE;
  return `M${GUTTER - 2} ${start}H${inner}Q${outer} ${start} ${outer} ${start + turn}V${end - turn}Q${outer} ${end} ${inner} ${end}H${GUTTER - 6}`;
}
function makeTipPath(to, height) {
  return `M${GUTTER} ${(to + 0.5) * height}l-7 -4v8z`;
}
function findExit({ from, to }, first, last) {
  if (from < first || from > last) {
    return 0;
  }
  if (to < first) {
    return -1;
  }
  return to > last ? 1 : 0;
}
function makeExitPath(way, level, edge) {
  return way ? `M${leftOf(level)} ${edge}l-4 ${-7 * way}h8z` : "";
}
function leftOf(level) {
  return FIRST_LEVEL - level * LEVEL_WIDTH;
}

// stage/arcs.js
function drawArcs(rows, height) {
  const svg = makeSvgElement("svg", {
    class: "stage-arcs",
    width: 34,
    height: rows.length * height,
    "aria-hidden": "true"
  });
  const jumps = layOutJumps(rows).map((jump) => drawJump(jump, height, svg));
  return { svg, jumps };
}
function drawJump(jump, height, svg) {
  const className = jump.crowded ? "stage-jump stage-crowded" : "stage-jump";
  const group = makeSvgElement("g", { class: className }, svg);
  const path = makeArcPath(jump.from, jump.to, jump.level, height);
  makeSvgElement("path", { class: "stage-arc", d: path }, group);
  makeSvgElement("path", { class: "stage-tip", d: makeTipPath(jump.to, height) }, group);
  const exit = makeSvgElement("path", { class: "stage-tip" }, group);
  return { ...jump, group, exit };
}
function markExits(jumps, height, first, last) {
  const above = /* @__PURE__ */ new Set();
  const below = /* @__PURE__ */ new Set();
  for (const jump of jumps) {
    const way = findExit(jump, first, last);
    const edge = (way < 0 ? first : last + 1) * height;
    jump.exit.setAttribute("d", makeExitPath(way, jump.level, edge));
    if (way && isDrawn(jump.group)) {
      (way < 0 ? above : below).add(jump.to);
    }
  }
  return { above: [...above], below: [...below] };
}
function isDrawn(group) {
  return !group.matches(".stage-crowded") || group.matches(".stage-taken, .stage-untaken");
}

// stage/instruction_list.js
var ROW_HEIGHT = { least: 17, most: 20 };
var WIDEST_OPNAME = 15;
function makeInstructionList(code, script, go, links, room) {
  const height = Math.max(
    ROW_HEIGHT.least,
    Math.min(ROW_HEIGHT.most, Math.floor(room / code.rows.length))
  );
  const box = makeElement("div", "stage-listed", "", {
    style: `height:${height * code.rows.length}px`
  });
  const longest = Math.max(...code.rows.map((row) => row.opname.length));
  box.style.setProperty("--gutter", `${measureGutter(code, script)}px`);
  box.style.setProperty("--op", `${Math.min(WIDEST_OPNAME, longest)}ch`);
  const pointer = makeElement("div", "stage-pointer", "", { style: `height:${height}px` });
  const rows = drawRows(code, script, go, links, height);
  const arcs = drawArcs(code.rows, height);
  const thrown = makeSvgElement("path", { class: "stage-arc stage-thrown" }, arcs.svg);
  box.append(pointer, ...rows, arcs.svg);
  const show = (now, steady, after) => {
    const outcome = findOutcome(code, now, after);
    const isThrown = outcome.caughtAt != null;
    markCurrent(rows, now.row);
    movePointer(pointer, now, height, steady);
    markArcs(arcs.jumps, now.row, outcome);
    thrown.setAttribute("d", isThrown ? makeArcPath(now.row, outcome.caughtAt, 1, height) : "");
    markOutcome(rows, now, outcome);
  };
  const hint = (hinted) => {
    rows.forEach((row, n) => {
      row.classList.toggle("stage-hinted", hinted.includes(code.rows[n]));
    });
  };
  return { box, show, hint, rows: code.rows, jumps: arcs.jumps, height };
}
function drawRows(code, script, go, links, height) {
  const runs = (track, { offset }) => script.codes[track.code] === code && track.offset === offset;
  const own = script.tracks.filter((track) => script.codes[track.code] === code);
  const ran = new Set(own.map((track) => track.offset));
  let line = 0;
  return code.rows.map((instruction, n) => {
    const row = drawRow(instruction);
    row.style.cssText = `top:${n * height}px;height:${height}px;line-height:${height}px`;
    const ownLine = instruction.span?.[0] ?? 0;
    row.classList.toggle("stage-first", Boolean(n && ownLine && ownLine !== line));
    line = ownLine || line;
    if (ran.has(instruction.offset)) {
      row.classList.add("stage-used");
      row.addEventListener(
        "click",
        () => go((at) => findNextTrack(script, (track) => runs(track, instruction), at))
      );
    } else {
      row.title += ": not run in any step here";
    }
    row.addEventListener("mouseenter", () => links.showRow(instruction));
    row.addEventListener("mouseleave", () => links.showRow(null));
    return row;
  });
}
function drawRow({ offset, opname, argument, to }) {
  const row = makeElement("div", "stage-row", "");
  row.append(
    makeElement("i", "", String(offset)),
    drawOpname(opname),
    makeElement("em", "", argument),
    makeElement("small", "", "")
  );
  row.classList.toggle("stage-jumps", to >= 0);
  row.dataset.name = opname;
  row.title = `${offset} ${opname} ${argument}`.trim();
  return row;
}
function drawOpname(opname) {
  const name = makeElement("span", "", "");
  const { start, end } = splitOpname(opname);
  if (start) {
    name.append(makeElement("s", "", start));
  }
  name.append(end);
  return name;
}
function findOutcome(code, now, after) {
  const isKnown = Boolean(after) && !now.ending;
  const to = code.rows[now.row]?.to;
  const jumps = isKnown && after.row === to;
  const raises = now.ending.startsWith("raises");
  const caughtAt = raises ? code.at.get(findHandlerOffset(now.handler)) : null;
  const target = caughtAt ?? (jumps ? after.row : -1);
  return { jumps, staysOn: isKnown && !jumps, isJump: to >= 0, caughtAt, target };
}
function markCurrent(rows, current) {
  rows.forEach((row, n) => {
    row.classList.toggle("stage-now", n === current);
    row.removeAttribute("aria-current");
  });
  rows[current]?.setAttribute("aria-current", "true");
}
function movePointer(pointer, now, height, steady) {
  pointer.hidden = now.row < 0;
  pointer.classList.toggle("stage-slides", steady);
  pointer.classList.toggle("stage-raises", now.ending.startsWith("raises"));
  if (now.row >= 0) {
    pointer.style.transform = `translateY(${now.row * height}px)`;
  }
}
function markArcs(jumps, current, { jumps: isTaken, staysOn }) {
  for (const { group, from } of jumps) {
    group.classList.toggle("stage-taken", from === current && isTaken);
    group.classList.toggle("stage-untaken", from === current && staysOn);
  }
}
function markOutcome(rows, now, { target, staysOn, isJump }) {
  rows.forEach((row, n) => {
    row.classList.toggle("stage-target", n === target);
    row.classList.toggle("stage-thrower", n === now.thrower);
    row.lastChild.textContent = "";
  });
  if (isJump && staysOn) {
    rows[now.row].lastChild.textContent = "not taken";
  }
  if (now.thrower >= 0) {
    rows[now.thrower].lastChild.textContent = "✕ raised";
  }
}
function measureGutter(code, script) {
  const jumps = code.rows.some((row) => row.to >= 0);
  const handles = script.words.some((words) => words.startsWith("go to "));
  return jumps || handles ? 34 : 6;
}

// stage/instructions.js
var MORE_HEIGHT = 15;
var HEADING_HEIGHT2 = 38;
var GUARD_HEIGHT = 36;
var LEAST_ROWS = 3;
var MOST_EXITS = 3;
function makeInstructionPane(script, go, links, room) {
  const pane = makePane("instructions", "Instructions");
  const box = makeScroll(makeElement("div", "stage-rows", ""), "Instructions");
  const guard = makeElement("div", "stage-guard", "");
  const above = makeElement("div", "stage-more", "");
  const below = makeElement("div", "stage-more", "");
  const isGuarded = script.tracks.some((step) => script.words[step.handler]);
  pane.body.append(above, box, below);
  if (isGuarded) {
    pane.body.append(guard);
  }
  const rowsRoom = room - HEADING_HEIGHT2 - (isGuarded ? GUARD_HEIGHT : 0);
  const findList = makeListFinder(script, go, links, rowsRoom);
  let list = null;
  let current = -1;
  const count = () => countHidden(list, box, above, below);
  const followRow = (atOnce) => {
    if (current >= 0) {
      follow(box, current * list.height, list.height, atOnce);
    }
  };
  const tidy = () => {
    if (list) {
      const height = pane.body.clientHeight - (isGuarded ? guard.offsetHeight : 0);
      fitRows(list, box, height, above, below);
      followRow(true);
      count();
    }
  };
  const open = (newList, row) => {
    list = newList;
    current = row;
    box.replaceChildren(list.box);
    box.scrollTop = 0;
    tidy();
  };
  const show = ({ now, after, steady }) => {
    if (now.code && list !== findList(now.code)) {
      open(findList(now.code), now.row);
    }
    const isNamed = script.codes.length > 1 && now.code;
    pane.aside.textContent = isNamed ? `of ${now.code.name}` : "caches hidden";
    guard.textContent = now.handler ? `⚑ on an exception: ${now.handler}` : "";
    current = now.row;
    if (list) {
      list.show(now, steady, after);
      followRow(!steady);
      count();
    }
  };
  box.addEventListener("scroll", () => list && count());
  new ResizeObserver(tidy).observe(pane.body);
  links.connectRows(
    (rows) => list?.hint(rows),
    () => list?.rows ?? []
  );
  return { box: pane.box, show };
}
function makeListFinder(script, go, links, room) {
  const lists = /* @__PURE__ */ new Map();
  return (code) => {
    if (!lists.has(code)) {
      lists.set(code, makeInstructionList(code, script, go, links, room));
    }
    return lists.get(code);
  };
}
function fitRows(list, box, room, above, below) {
  const total = list.rows.length;
  const isCut = total * list.height > room;
  const fitting = Math.max(LEAST_ROWS, Math.floor((room - 2 * MORE_HEIGHT) / list.height));
  above.hidden = !isCut;
  below.hidden = !isCut;
  box.style.height = `${(isCut ? fitting : total) * list.height}px`;
}
function countHidden(list, box, above, below) {
  const first = Math.round(box.scrollTop / list.height);
  const last = first + Math.round(box.clientHeight / list.height) - 1;
  const exits = markExits(list.jumps, list.height, first, last);
  const nameExits = (rows, arrow) => rows.slice(0, MOST_EXITS).map((row) => `${arrow} ${list.rows[row].offset}`);
  fillMore(above, nameExits(exits.above, "↑"), first);
  fillMore(below, nameExits(exits.below, "↓"), list.rows.length - 1 - last);
}
function fillMore(line, exits, hidden) {
  line.replaceChildren(
    makeElement("b", "", exits.join("  ")),
    makeElement("span", "", hidden > 0 ? `… ${hidden} more` : "")
  );
}

// stage/source_spans.js
function findRowsAt(rows, line, column) {
  const around = rows.filter(({ span }) => span && startsOnLineAround(span, line, column));
  if (!around.length) {
    return [];
  }
  const least = Math.min(...around.map(({ span }) => measureSpan(span)));
  const { span: narrowest } = around.find(({ span }) => measureSpan(span) === least);
  return around.filter(({ span }) => String(span) === String(narrowest));
}
function startsOnLineAround([startLine, start, endLine, end], line, column) {
  const isBeforeEnd = endLine > line || column < end;
  return startLine === line && column >= start && isBeforeEnd;
}
function measureSpan([line, column, endLine, endColumn]) {
  return (endLine - line) * 1e4 + endColumn - column;
}

// stage/links.js
function makeLinks() {
  let showSpan = () => {
  };
  let showRows = () => {
  };
  let currentRows = () => [];
  return {
    connectSpan(show) {
      showSpan = show;
    },
    connectRows(show, current) {
      showRows = show;
      currentRows = current;
    },
    showRow(row) {
      showRows(row ? [row] : []);
      showSpan(row?.span ?? null);
    },
    showPlace(line, column) {
      const rows = findRowsAt(currentRows(), line, column);
      showRows(rows);
      showSpan(rows[0]?.span ?? null);
    }
  };
}

// stage/locals.js
var MOST_ROWS = 5;
var ROW_HEIGHT2 = 24;
var HEADING_HEIGHT3 = 28;
var CELL = " (cell)";
function makeLocalsPane(script) {
  const pane = makePane("locals", "Locals");
  const box = makeElement("div", "stage-locals", "");
  const most = Math.max(1, ...script.codes.map((code2) => code2.names.length));
  const rowsHeight = Math.min(most, MOST_ROWS) * ROW_HEIGHT2;
  box.style.height = `${rowsHeight + 2}px`;
  if (most > MOST_ROWS) {
    makeScroll(box, "Locals");
  }
  pane.body.append(box);
  let code = null;
  let rows = [];
  const open = (newCode) => {
    code = newCode;
    rows = code.names.map(makeRow);
    box.replaceChildren(...rows);
    if (!rows.length) {
      box.append(makeElement("p", "stage-none", "it has none"));
    }
  };
  const show = ({ now, last }) => {
    if (!now.locals) {
      return;
    }
    if (now.code !== code) {
      open(now.code);
    }
    now.locals.forEach((value, n) => {
      fillRow(rows[n], value, last?.locals ? last.locals[n] : value);
    });
    const set = now.locals.filter(Boolean).length;
    pane.aside.textContent = rows.length ? `${set} of ${rows.length} set` : "";
    const changed = rows.find((row) => row.classList.contains("stage-changed"));
    if (changed && most > MOST_ROWS) {
      follow(box, changed.offsetTop, ROW_HEIGHT2, true);
    }
  };
  const findPlace = (name) => rows.find((row) => row.dataset.name === name)?.children[1];
  return { box: pane.box, show, height: rowsHeight + HEADING_HEIGHT3, findPlace };
}
function makeRow(name) {
  const row = makeElement("div", "stage-local", "");
  const isCell = name.endsWith(CELL);
  row.dataset.name = isCell ? name.slice(0, -CELL.length) : name;
  row.classList.toggle("stage-cell", isCell);
  const label = makeElement("b", "", row.dataset.name);
  label.title = isCell ? `${name}: a box that inner functions share` : name;
  row.append(label, makeElement("span", "", ""), makeElement("small", "", ""));
  row.append(makeElement("small", "stage-was", ""));
  return row;
}
function fillRow(row, value, before) {
  const [, text, kind, change] = row.children;
  text.textContent = value ? value.words : "–";
  text.title = value?.words ?? "";
  kind.textContent = value ? nameKind(row, value) : "";
  change.textContent = describeChange(value, before);
  change.title = change.textContent;
  row.classList.toggle("stage-unset", !value);
  row.classList.toggle("stage-changed", value?.words !== before?.words);
}
function nameKind(row, value) {
  return row.classList.contains("stage-cell") ? "shared cell" : shortenKind(value.kind);
}

// stage/panel_places.js
var MOST_TITLES = 6;
function makePlaceFinder(tracks) {
  const titles = new Set(tracks.flatMap((track) => (track.panels ?? []).map(([title]) => title)));
  const isByTitle = titles.size <= MOST_TITLES;
  return (title, position) => isByTitle && title ? title : `#${position}`;
}
function collectContents(tracks, findPlace) {
  const contents = /* @__PURE__ */ new Map();
  for (const { panels = [] } of tracks) {
    panels.forEach(([title, content], position) => {
      const place2 = findPlace(title, position);
      contents.set(place2, (contents.get(place2) ?? /* @__PURE__ */ new Set()).add(content));
    });
  }
  return contents;
}

// stage/panels.js
var MOST_GHOSTS = 8;
function makePanelPlaces(script) {
  const pool = script.panels;
  const findPlace = makePlaceFinder(script.tracks);
  const box = makeScroll(makeElement("div", "stage-pane stage-panels", ""), "What each step shows");
  const places = /* @__PURE__ */ new Map();
  for (const [name, contents] of collectContents(script.tracks, findPlace)) {
    const place2 = makePlace([...contents], pool);
    places.set(name, place2);
    box.append(place2.box);
  }
  const nothing = makeElement("p", "stage-none stage-why", "");
  box.append(nothing);
  const show = ({ now }) => {
    const absent = new Set(places.keys());
    now.panels.forEach(([title, content], position) => {
      const name = findPlace(title, position);
      absent.delete(name);
      fillPlace(places.get(name), title, content, pool);
    });
    for (const [name, place2] of places) {
      place2.box.classList.toggle("stage-absent", absent.has(name));
    }
    const isEmpty = !now.panels.length && !script.picture;
    nothing.textContent = isEmpty ? "nothing to show at this step" : "";
  };
  const tidy = () => {
    for (const { stack } of places.values()) {
      letReach(stack);
    }
  };
  return { box, show, tidy };
}
function makePlace(contents, pool) {
  const box = makeElement("div", "stage-panel", "");
  const head = makeElement("div", "stage-head", "");
  const heading = makeElement("span", "stage-name", "");
  const stack = makeElement("div", "stage-over", "");
  const shown = makeElement("div", "stage-shown", "");
  const longest = [...contents].sort((a, b) => pool[b].length - pool[a].length);
  const ghosts = longest.slice(0, MOST_GHOSTS);
  head.append(heading);
  stack.append(...ghosts.map((content) => makeGhost(pool[content])), shown);
  box.append(head, stack);
  return { box, heading, stack, shown, content: -1, reserved: new Set(ghosts) };
}
function makeGhost(html) {
  const ghost = makeElement("div", "stage-ghost", "", { "aria-hidden": "true" });
  ghost.innerHTML = html;
  return ghost;
}
function fillPlace(place2, title, content, pool) {
  place2.heading.textContent = title;
  if (place2.content === content) {
    return;
  }
  const isOpen = place2.shown.querySelector("details")?.open ?? false;
  const before = place2.stack.offsetHeight;
  place2.shown.innerHTML = pool[content];
  place2.content = content;
  for (const details of place2.shown.querySelectorAll("details")) {
    details.open = isOpen;
  }
  if (place2.stack.offsetHeight > before && before && !place2.reserved.has(content)) {
    place2.reserved.add(content);
    place2.stack.prepend(makeGhost(pool[content]));
  }
}
function letReach(stack) {
  if (stack.scrollWidth > stack.clientWidth + 1) {
    stack.setAttribute("tabindex", "0");
  } else {
    stack.removeAttribute("tabindex");
  }
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
  return places.map((place2) => path.getPointAtLength(place2));
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
  const follow2 = (elements) => {
    followed = elements;
    showEdges(view);
    if (isLarger(view)) {
      bringIntoView(view, elements);
    }
  };
  letDrag(view);
  view.addEventListener("scroll", () => showEdges(view), { passive: true });
  new ResizeObserver(() => follow2(followed)).observe(view);
  return { follow: follow2 };
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
    addButton2(bar, sign, label, () => resize(drawing, factor));
  }
  addButton2(bar, "Fit", "Reset", () => fit(drawing, leastWidth));
  return bar;
}
function addButton2(bar, sign, label, act) {
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

// stage/picture_pane.js
function makePicturePane(script) {
  const pane = makePane("drawn", script.picture.title);
  const host = makeElement("div", "", "");
  pane.body.append(host);
  const picture = mountPicture(host, script.picture.svg);
  const firstSteps = findFirstSteps(script);
  const show = ({ now, before, moving }) => {
    for (const [key, elements] of picture.parts) {
      for (const element of elements) {
        element.classList.toggle("course-ahead", firstSteps.get(key) > now.n);
      }
    }
    showPicture(picture, now.picture, before?.picture ?? {}, moving);
    const states = Object.values(now.picture);
    if (!states.some((state) => ["now", "new"].includes(state))) {
      followNext(picture, firstSteps, now.n);
    }
    pane.aside.textContent = states.length ? "" : "nothing yet: the pale ones come later";
  };
  return { box: pane.box, show, changes: picture.changes };
}
function findFirstSteps(script) {
  const firstSteps = /* @__PURE__ */ new Map();
  for (let n = script.total - 1; n >= 0; n--) {
    for (const key of Object.keys(script.step(n).picture)) {
      firstSteps.set(key, n);
    }
  }
  return firstSteps;
}
function followNext({ parts, pan }, firstSteps, n) {
  const soonest = Math.min(...[...firstSteps.values()].filter((first) => first > n));
  const keys = [...firstSteps.keys()].filter((key) => firstSteps.get(key) === soonest);
  if (keys.length) {
    pan.follow(keys.flatMap((key) => parts.get(key) ?? []));
  }
}

// stage/printed.js
var MOST_LINES = 4;
var LINE_HEIGHT = 19;
var EDGES = 10;
var TITLE2 = "Printed so far";
function makePrintedPane(script) {
  const pane = makePane("printed", TITLE2);
  const lines = Math.min(MOST_LINES, script.printed.trimEnd().split("\n").length);
  const output = makeElement("pre", "stage-output", "", {
    style: `height:${LINE_HEIGHT * lines + EDGES}px`
  });
  makeScroll(output, TITLE2);
  pane.body.append(output);
  const show = ({ now, before }) => {
    const old = before?.printed ?? "";
    const oldLength = now.printed.startsWith(old) ? old.length : now.printed.length;
    const fresh = now.printed.slice(oldLength);
    output.replaceChildren(now.printed.slice(0, oldLength));
    if (fresh) {
      output.append(makeElement("mark", "", fresh));
    }
    if (!now.printed) {
      output.append(makeElement("span", "stage-none", "nothing yet"));
    }
    output.scrollTop = output.scrollHeight;
    pane.aside.textContent = fresh ? "new: underlined" : "";
  };
  return { box: pane.box, show };
}

// stage/python_lines.js
var KEYWORDS = new Set(
  "and as async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield None True False".split(" ")
);
var TOKENS = /#.*|(?:\b[rbfut]{1,2})?("""|'''|"|')|\b\w+/gi;
function splitPythonLines(lines) {
  let open = "";
  return lines.map((line) => {
    const split = splitLine(line, open);
    open = split.open;
    return split.pieces;
  });
}
function splitLine(line, quotes) {
  const pieces = [];
  let from = 0;
  let { at, open } = quotes ? findStringEnd(line, 0, quotes) : { at: 0, open: "" };
  while (at < line.length) {
    TOKENS.lastIndex = at;
    const token = TOKENS.exec(line);
    if (!token) {
      break;
    }
    at = TOKENS.lastIndex;
    if (token[1]) {
      ({ at, open } = findStringEnd(line, at, token[1]));
    } else if (KEYWORDS.has(token[0])) {
      pieces.push({ text: line.slice(from, token.index), isKeyword: false });
      pieces.push({ text: token[0], isKeyword: true });
      from = at;
    }
  }
  pieces.push({ text: line.slice(from), isKeyword: false });
  return { pieces: pieces.filter(({ text }) => text), open };
}
function findStringEnd(line, from, quotes) {
  for (let at = from; at < line.length; at++) {
    if (line[at] === "\\") {
      at++;
    } else if (line.startsWith(quotes, at)) {
      return { at: at + quotes.length, open: "" };
    }
  }
  return { at: line.length, open: quotes.length === 3 ? quotes : "" };
}

// stage/source_deeds.js
var LETTER_WIDTH = 7;
function markDeed(row, deed, isNext, room) {
  const raised = deed.includes("raised");
  const sign = raised ? "✕" : "↩";
  row.classList.add("stage-deed");
  row.classList.toggle("stage-raised", raised);
  if (!isNext) {
    row.children[1].textContent = sign;
  }
  const text = isNext ? `${sign} ${deed}` : deed;
  const code = row.lastChild;
  if (code.offsetLeft + code.offsetWidth + text.length * LETTER_WIDTH <= room) {
    row.dataset.deed = text;
  }
  row.title = deed;
}
function clearDeed(row) {
  row.classList.remove("stage-deed", "stage-raised");
  delete row.dataset.deed;
  row.removeAttribute("title");
  if (!row.hasAttribute("aria-current")) {
    row.children[1].textContent = "";
  }
}

// stage/text_places.js
var ABOVE_AND_BELOW = 4;
function joinByLine(rectangles) {
  const lines = [];
  for (const { left, right, top, height, width } of rectangles) {
    if (!width) {
      continue;
    }
    const line = lines.find((other) => Math.abs(top - other.top) < other.height / 2);
    if (line) {
      line.left = Math.min(line.left, left);
      line.right = Math.max(line.right, right);
    } else {
      lines.push({ left, right, top, height });
    }
  }
  return lines;
}
function makeTextRange(element, from, to) {
  const range = document.createRange();
  const texts = findTexts(element);
  let start = 0;
  let begun = false;
  for (const text of texts) {
    const end = start + text.length;
    if (!begun && from <= end) {
      range.setStart(text, from - start);
      begun = true;
    }
    if (to <= end || text === texts.at(-1)) {
      range.setEnd(text, Math.min(to - start, text.length));
      break;
    }
    start = end;
  }
  return range;
}
function findColumn(code, { clientX, clientY }) {
  const size = code.textContent.length;
  for (let n = 0; n < size; n++) {
    const { left, right, top, bottom } = makeTextRange(code, n, n + 1).getBoundingClientRect();
    const isBeside = left <= clientX && clientX < right;
    if (isBeside && top - ABOVE_AND_BELOW <= clientY && clientY < bottom + ABOVE_AND_BELOW) {
      return n;
    }
  }
  return size;
}
function findTexts(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    texts.push(walker.currentNode);
  }
  return texts;
}

// stage/source.js
var HANGING = 4;
var NEXT_MARK = "▶";
function makeSourcePane(script, go, links) {
  const pane = makePane("source", "Source");
  const box = makeScroll(makeElement("div", "stage-lines", ""), "Source");
  const list = makeElement("div", "stage-listed", "");
  const lit = makeElement("div", "stage-lit", "", { hidden: "" });
  const hint = makeElement("div", "stage-hint", "", { hidden: "" });
  const rows = drawRows2(script, go);
  list.append(...rows, lit, hint);
  box.append(list);
  pane.body.append(box);
  const followRow = (row, steady) => follow(box, row.offsetTop, row.offsetHeight, !steady);
  let current = null;
  const show = ({ now, steady }) => {
    current = moveNextMark(current, rows[now.line - 1] ?? null);
    if (current) {
      followRow(current, steady);
    }
    for (const row of list.querySelectorAll(".stage-deed")) {
      clearDeed(row);
    }
    const left = rows[now.left - 1];
    if (left) {
      markDeed(left, now.deed, left === current, box.clientWidth);
    }
    if (left && !current) {
      followRow(left, steady);
    }
    lit.classList.toggle("stage-slides", steady);
    putMark(lit, now.span, rows, list);
    pane.aside.textContent = describePlace(now);
  };
  list.addEventListener("mousemove", (event) => {
    const row = event.target.closest?.(".stage-line");
    if (row) {
      links.showPlace(rows.indexOf(row) + 1, findColumn(row.lastChild, event));
    }
  });
  list.addEventListener("mouseleave", () => links.showPlace(0, 0));
  links.connectSpan((span) => putMark(hint, span, rows, list));
  const tidy = (now) => putMark(lit, now.span, rows, list);
  return { box: pane.box, show, lit, tidy };
}
function drawRows2(script, go) {
  const used = new Set(script.tracks.map((track) => track.line));
  const pieces = splitPythonLines(script.lines);
  return script.lines.map((text, i) => {
    const line = i + 1;
    const called = String(script.numbers?.[i] ?? line);
    const row = makeElement("div", "stage-line", "");
    const number = makeElement(used.has(line) ? "button" : "span", "stage-number", called);
    const mark = makeElement("span", "stage-mark", "", { "aria-hidden": "true" });
    row.append(number, mark, drawCode(text, pieces[i]));
    if (used.has(line)) {
      number.type = "button";
      number.setAttribute("aria-label", `Go to the next step on line ${called}`);
      number.title = "click: go to the next step on this line";
      row.classList.add("stage-used");
      row.addEventListener("click", () => {
        if (getSelection().isCollapsed) {
          go((at) => findNextTrack(script, (track) => track.line === line, at));
        }
      });
    }
    return row;
  });
}
function drawCode(text, pieces) {
  const code = makeElement("code", "stage-code", "");
  const indent = text.search(/\S|$/) + HANGING;
  code.style.paddingLeft = `${indent}ch`;
  code.style.textIndent = `-${indent}ch`;
  for (const piece of pieces) {
    code.append(piece.isKeyword ? makeElement("b", "", piece.text) : piece.text);
  }
  if (!pieces.length) {
    code.append(" ");
  }
  return code;
}
function moveNextMark(current, next) {
  if (current) {
    current.removeAttribute("aria-current");
    current.children[1].textContent = "";
  }
  if (next) {
    next.setAttribute("aria-current", "step");
    next.children[1].textContent = NEXT_MARK;
  }
  return next;
}
function putMark(mark, span, rows, list) {
  for (const piece of list.querySelectorAll(`.${mark.classList[0]}.stage-piece`)) {
    piece.remove();
  }
  const row = span && rows[span[0] - 1];
  mark.hidden = !row;
  if (!row) {
    return;
  }
  const outer = list.getBoundingClientRect();
  const scale = outer.width / list.offsetWidth || 1;
  const rectangles = [...findSpan(row.lastChild, span).getClientRects()];
  joinByLine(rectangles).forEach((line, n) => {
    const piece = n ? mark.cloneNode() : mark;
    piece.style.left = `${(line.left - outer.left) / scale - 2}px`;
    piece.style.top = `${(line.top - outer.top + line.height / 2) / scale - 10}px`;
    piece.style.width = `${(line.right - line.left) / scale + 4}px`;
    if (n) {
      piece.classList.add("stage-piece");
      list.append(piece);
    }
  });
}
function findSpan(code, [line, start, endLine, end]) {
  const size = code.textContent.length;
  const last = endLine === line ? Math.min(end, size) : size;
  return makeTextRange(code, Math.min(start, size), last);
}
function describePlace({ span, row, line }) {
  if (span) {
    return "lit: runs next";
  }
  if (row >= 0) {
    return "next: no words of its own";
  }
  return line ? `${NEXT_MARK} runs next` : "";
}

// stage/stack_changes.js
function findPopped(now, before) {
  if (!before?.stack || before.n !== now.n - 1 || !now.stack) {
    return [];
  }
  const keys = keysOf(now.stack);
  const slots = before.stack.map((value, n) => ({ value, n }));
  return slots.filter(({ value }) => !keys.has(value.key));
}
function findPushedSlots(step, next) {
  if (!step?.stack || !next?.stack) {
    return [];
  }
  const keys = keysOf(step.stack);
  return next.stack.flatMap(({ key }, n) => keys.has(key) ? [] : [n]);
}
function keysOf(stack) {
  return new Set(stack.map(({ key }) => key));
}

// stage/stack_layout.js
var SLOT = { least: 20, most: 34, gap: 4 };
var HEAD = 18;
var FOOT = 10;
var COUNTING_FOOT = 17;
function layOutStack(room, deepest, allowed) {
  const roomForSlots = room - HEAD - FOOT;
  const slots = allowed * (SLOT.least + SLOT.gap) <= roomForSlots ? allowed : deepest;
  const fitting = Math.floor(roomForSlots / slots) - SLOT.gap;
  const size = Math.max(SLOT.least, Math.min(SLOT.most, fitting));
  const pitch = size + SLOT.gap;
  const isCut = slots * pitch > roomForSlots;
  const visible = isCut ? Math.max(1, Math.floor((room - HEAD - COUNTING_FOOT) / pitch)) : slots;
  const foot = slots > visible ? COUNTING_FOOT : FOOT;
  const height = Math.min(slots, visible) * pitch + HEAD + foot;
  return { slots, size, pitch, visible, foot, height };
}
function countHidden2(depth, pushed, visible) {
  const highest = Math.max(depth, ...pushed.map((slot) => slot + 1));
  return Math.max(0, highest - visible);
}

// stage/stack_marks.js
function markAsNew(block) {
  block.classList.add("stage-fresh");
  block.append(makeElement("u", "stage-tag", "new"));
  block.title += ": just pushed";
}
function makePushMark(isTaken) {
  const mark = makeElement("div", "stage-puts", "", { "aria-hidden": "true" });
  mark.classList.toggle("stage-over-value", isTaken);
  mark.append(makeElement("u", "stage-tag", isTaken ? "+" : "+ pushes here"));
  mark.title = "the next result goes here";
  return mark;
}
function makeGoneBlock(value) {
  const block = makeElement("div", "stage-gone", "");
  block.append(makeElement("span", "", value.words));
  block.title = `just popped: ${value.words}`;
  return block;
}

// stage/stack.js
var BASE_HEIGHT = 4;
var MARKS = ".stage-gone, .stage-takes, .stage-puts";
function makeStackPane(script, room) {
  const pane = makePane("stack", script.codes.length ? "Value stack" : "Symbolic stack");
  const box = makeElement("div", "stage-blocks", "", { role: "img" });
  const strip = makeElement("div", "stage-strip", "");
  const empty = makeElement("p", "stage-why", "");
  const below = makeElement("div", "stage-below", "");
  const deepest = Math.max(1, ...script.tracks.map((track) => track.stack?.length ?? 0));
  const allowed = Math.max(deepest, ...script.codes.map((code) => code.depth));
  const layout = layOutStack(room, deepest, allowed);
  const limit = layout.slots === allowed && script.codes.length === 1 ? allowed : 0;
  for (let n = 0; n < layout.slots; n++) {
    const slot = makeElement("div", "stage-slot", "", { "aria-hidden": "true" });
    strip.append(place(slot, n, layout));
  }
  strip.append(makeElement("div", "stage-base", ""));
  box.append(strip, empty, below);
  box.style.setProperty("--foot", `${layout.foot - BASE_HEIGHT}px`);
  box.style.height = `${layout.height}px`;
  pane.body.append(box);
  const blocks = /* @__PURE__ */ new Map();
  let change = { fresh: [], gone: [] };
  const show = ({ now, before, last, after }) => {
    const stack = now.stack ?? [];
    const gone = findPopped(now, before?.call === now.call ? before : null);
    const newSlots = findPushedSlots(last, now);
    const nextSlots = now.ending ? [] : findPushedSlots(now, after);
    for (const mark of strip.querySelectorAll(MARKS)) {
      mark.remove();
    }
    const fresh = placeBlocks(strip, blocks, now, layout);
    change = { fresh, gone };
    for (const slot of newSlots) {
      markAsNew(blocks.get(stack[slot].key));
    }
    for (const slot of nextSlots) {
      strip.append(place(makePushMark(slot < stack.length), slot, layout));
    }
    stack.forEach((value, n) => {
      blocks.get(value.key).classList.toggle("stage-covered", nextSlots.includes(n));
    });
    markPopped(strip, gone, layout);
    markTaken(strip, now, layout);
    const hidden = countHidden2(stack.length, nextSlots, layout.visible);
    showVisible(strip, hidden, layout);
    hideCutKinds(strip);
    const isEmpty = now.stack && !stack.length && !gone.length && !nextSlots.length;
    below.textContent = hidden ? `↓ ${hidden} more below` : "";
    empty.textContent = isEmpty ? "empty" : "";
    pane.aside.textContent = now.stack ? nameDepth(stack.length, limit) : "none at this step";
    box.setAttribute("aria-label", describeStack(stack, newSlots, now.taken));
  };
  return { box: pane.box, show, blocks, change: () => change };
}
function place(element, slot, { foot, pitch, size }) {
  element.dataset.slot = slot;
  element.style.bottom = `${foot + slot * pitch}px`;
  element.style.height = `${size}px`;
  return element;
}
function placeBlocks(strip, blocks, { stack, taken }, layout) {
  const values = stack ?? [];
  const keys = new Set(values.map(({ key }) => key));
  for (const [key, block] of blocks) {
    if (!keys.has(key)) {
      block.remove();
      blocks.delete(key);
    }
  }
  const fresh = [];
  values.forEach((value, n) => {
    if (!blocks.has(value.key)) {
      blocks.set(value.key, makeElement("div", "stage-block", ""));
      fresh.push({ value, block: blocks.get(value.key) });
    }
    const block = blocks.get(value.key);
    fillBlock(block, value);
    block.classList.toggle("stage-taking", n >= values.length - taken);
    strip.append(place(block, n, layout));
  });
  return fresh;
}
function fillBlock(block, value) {
  const isNull = value.words === "NULL" && !value.kind;
  const kind = shortenKind(value.kind);
  const description = isNull ? "empty slot" : describeValue(value);
  block.classList.toggle("stage-null", isNull);
  block.classList.remove("stage-fresh");
  block.replaceChildren(makeElement("span", "", value.words));
  if (description) {
    block.append(makeElement("small", "", description));
  }
  block.title = kind ? `${value.words} (${kind})` : value.words;
  if (isNull) {
    block.title = NULL_MEANS;
  }
  if (value.same) {
    block.title += `: the very object that ${value.same} refers to`;
  }
}
function markPopped(strip, gone, layout) {
  if (!gone.length) {
    return;
  }
  for (const { value, n } of gone) {
    if (n < layout.slots) {
      strip.append(place(makeGoneBlock(value), n, layout));
    }
  }
  const top = Math.max(...gone.map(({ n }) => n)) + 1;
  const label = makeElement("div", "stage-takes stage-popped", "just popped");
  label.style.bottom = `${layout.foot + Math.min(top, layout.slots) * layout.pitch - 2}px`;
  strip.append(label);
}
function markTaken(strip, { stack, taken }, { foot, pitch, size }) {
  if (!taken || !stack?.length) {
    return;
  }
  const bracket = makeElement("div", "stage-takes stage-bracket", `pops ${taken}`);
  bracket.style.bottom = `${foot + (stack.length - taken) * pitch}px`;
  bracket.style.height = `${(taken - 1) * pitch + size}px`;
  strip.append(bracket);
}
function showVisible(strip, hidden, { pitch, visible }) {
  for (const element of strip.querySelectorAll("[data-slot]")) {
    const slot = Number(element.dataset.slot);
    element.classList.toggle("stage-out", slot < hidden || slot >= hidden + visible);
  }
  strip.style.transform = `translateY(${hidden * pitch}px)`;
}
function hideCutKinds(strip) {
  for (const kind of strip.querySelectorAll(".stage-block small")) {
    kind.hidden = false;
    kind.hidden = kind.scrollWidth > kind.clientWidth;
  }
}
function nameDepth(depth, limit) {
  if (limit) {
    return `${depth} of at most ${limit}`;
  }
  return depth === 1 ? "1 value" : `${depth} values`;
}
function describeStack(stack, newSlots, taken) {
  const values = stack.map(({ words }) => words).reverse();
  const parts = [`Value stack, top first: ${values.join(", ") || "empty"}`];
  if (newSlots.length) {
    parts.push(`new: ${newSlots.map((slot) => stack[slot].words).join(", ")}`);
  }
  if (taken) {
    parts.push(`pops the top ${taken}`);
  }
  return parts.join("; ");
}

// stage/parts.js
var STAGE_HEIGHT = 290;
var HEADING_HEIGHT4 = 36;
var LEAST_STACK = 110;
var STACK_BY_PICTURE = 132;
var FIXED_WIDTH = 71;
var LONG_LINE = 34;
function makeParts(script, go) {
  const links = makeLinks();
  const left = makeElement("div", "stage-left", "");
  const middle = makeElement("div", "stage-middle", "");
  const right = makeElement("div", "stage-right", "");
  const parts = {};
  const add = (name, column, part) => {
    parts[name] = part;
    column.append(part.box);
  };
  const has = (name) => script.tracks.some((step) => step[name]?.length);
  const isMachine = script.codes.length > 0;
  const deck = has("cards") ? null : makeDeckPane(script);
  const locals = isMachine ? makeLocalsPane(script) : null;
  if (script.lines.length) {
    add("source", left, makeSourcePane(script, go, links));
  }
  if (script.printed) {
    add("printed", left, makePrintedPane(script));
  }
  if (isMachine) {
    add("instructions", middle, makeInstructionPane(script, go, links, STAGE_HEIGHT));
  }
  if (script.tracks.some((step) => step.stack)) {
    const beside = script.picture ? left : middle;
    const rest = STAGE_HEIGHT - HEADING_HEIGHT4 - (locals?.height ?? 0) - (deck?.height ?? 0);
    add("stack", isMachine ? right : beside, makeStackPane(script, chooseStackRoom(script, rest)));
  }
  if (locals) {
    add("locals", right, locals);
  }
  if (has("cards")) {
    add("cards", right, makeFramesPane(script));
  }
  if (deck?.height) {
    add("deck", right, deck);
  }
  if (script.picture) {
    add("picture", right, makePicturePane(script));
  }
  if (has("panels")) {
    add("panels", right, makePanelPlaces(script));
  }
  const columns = [left, middle, right].filter((column) => column.children.length);
  const main = makeMain(script, columns);
  return { main, parts, over: columns.at(-1) ?? main };
}
function chooseStackRoom(script, rest) {
  const wanted = script.picture ? Math.min(STACK_BY_PICTURE, rest) : rest;
  return Math.max(LEAST_STACK, wanted);
}
function makeMain(script, columns) {
  const isMachine = script.codes.length > 0;
  const main = makeElement("div", "stage-main", "");
  main.append(...columns);
  main.classList.add(`stage-of-${columns.length}`, isMachine ? "stage-machine" : "stage-plain");
  const longest = Math.max(0, ...script.lines.map((line) => line.length));
  main.classList.toggle("stage-long-lines", longest > LONG_LINE);
  if (isMachine) {
    const gutters = script.codes.map((code) => measureGutter(code, script));
    const letters = script.codes.map((code) => countLetters(code.rows));
    main.style.setProperty("--fixed", `${Math.max(...gutters) + FIXED_WIDTH}px`);
    main.style.setProperty("--letters", Math.max(...letters));
  }
  return main;
}

// stage/question.js
var MOST_DRAWN = 5;
function makeQuestion(script, over, moveTo, at) {
  const box = makeElement("div", "stage-question", "", {
    role: "group",
    "aria-label": "Your prediction"
  });
  box.hidden = true;
  over.append(box);
  const score = { right: 0, total: 0 };
  let isOn = false;
  const close = () => {
    box.hidden = true;
  };
  const ask = (n) => {
    const question = isOn && box.hidden ? findQuestion(script, n) : null;
    if (!question || question.answers.length < 2) {
      return false;
    }
    const row = makeElement("div", question.present ? "stage-piles" : "stage-answers", "");
    const verdict = makeElement("p", "stage-verdict", "", { role: "status" });
    fillRow2(row, question, (answer) => {
      score.total += 1;
      if (answer === question.right) {
        score.right += 1;
      }
      markAnswers(row, question, answer);
      showVerdict(verdict, question, answer, score, () => {
        close();
        moveTo(n + 1);
      });
    });
    box.replaceChildren(drawHeading(question), row, verdict);
    box.hidden = false;
    box.querySelector("button").focus({ preventScroll: true });
    return true;
  };
  const turn = (on) => {
    isOn = on;
    close();
    over.closest(".course-stage")?.classList.toggle("stage-predicting", on);
    if (on) {
      ask(at());
    }
  };
  return { ask, close, turn };
}
function drawHeading({ heading, instruction }) {
  const paragraph = makeElement("p", "stage-asked", heading);
  if (instruction) {
    paragraph.append(makeElement("b", "stage-short", instruction), "?");
  }
  return paragraph;
}
function fillRow2(row, { present, answers }, choose) {
  if (present) {
    const now = makeElement("div", "stage-present", "");
    now.append(drawPile(present), makeElement("small", "", "now"));
    now.append(makeElement("span", "stage-unseen", joinStack(present)));
    row.append(now);
  }
  answers.forEach((answer, n) => {
    const button = drawAnswer(answer, n + 1);
    button.addEventListener("click", () => choose(answer));
    row.append(button);
  });
}
function drawAnswer({ words, stack }, number) {
  const button = makeElement("button", "stage-answer", "", { type: "button" });
  button.dataset.words = words;
  if (stack) {
    button.append(drawPile(stack), makeElement("small", "", String(number)));
    button.append(makeElement("span", "stage-unseen", `bottom to top: ${words}`));
  } else {
    button.append(makeElement("span", "", words), makeElement("small", "", ""));
  }
  return button;
}
function drawPile(stack) {
  const pile = makeElement("div", "stage-heap", "", { "aria-hidden": "true" });
  const shown = stack.slice(-MOST_DRAWN).reverse();
  for (const words of shown) {
    const chip = makeElement("div", "stage-chip", words);
    chip.classList.toggle("stage-null", words === "NULL");
    chip.title = words;
    pile.append(chip);
  }
  if (stack.length > shown.length) {
    pile.append(makeElement("small", "", `+ ${stack.length - shown.length} below`));
  }
  return pile;
}
function markAnswers(row, { answers, right }, chosen) {
  for (const button of row.querySelectorAll("button")) {
    const answer = answers.find(({ words }) => words === button.dataset.words);
    const isRight = answer === right;
    const note = button.querySelector("small");
    button.disabled = true;
    button.classList.toggle("is-right", isRight);
    button.classList.toggle("is-wrong", answer === chosen && !isRight);
    if (isRight && chosen === right) {
      note.textContent = answer.why ? `✓ right: ${answer.why}` : "✓ right";
    } else if (isRight) {
      note.textContent = "✓ this one";
    } else if (answer === chosen) {
      note.textContent = `✗ yours: ${answer.why}`;
    }
  }
}
function showVerdict(verdict, { right }, chosen, score, goOn) {
  const next = makeElement("button", "stage-button stage-go", "See it", { type: "button" });
  next.addEventListener("click", goOn);
  const mistake = chosen === right ? "" : `Not this one: ${chosen.why}. `;
  verdict.replaceChildren(
    makeElement("span", "stage-unseen", mistake),
    `${score.right} of ${score.total} predicted. `,
    next
  );
  next.focus({ preventScroll: true });
}

// stage/script.js
var PICTURE_STATES = ["", "shown", "new", "ghost"];
function readScript(text) {
  const script = JSON.parse(text);
  const tracks = script.steps;
  const codes = script.codes.map(readCode);
  const pools = makePools(script);
  const readPicture = makePictureReader(script.picture);
  const steps = /* @__PURE__ */ new Map();
  const step = (n) => {
    if (!steps.has(n)) {
      steps.set(n, readStep(tracks[n], n, { script, codes, pools, readPicture }));
    }
    return steps.get(n);
  };
  const isSameCall = (i, n) => tracks[i].stack && tracks[i].call === tracks[n].call;
  const before = (n) => {
    for (let i = n - 1; i >= 0; i--) {
      if (isSameCall(i, n)) {
        return step(i);
      }
    }
    return null;
  };
  const after = (n) => {
    for (let i = n + 1; i < tracks.length && tracks[i].stack; i++) {
      if (isSameCall(i, n)) {
        return step(i);
      }
    }
    return null;
  };
  return { ...script, tracks, codes, step, before, after };
}
function readCode(code) {
  const rows = code.rows.map(([offset, opname, argument, lane, span, target]) => ({
    offset,
    opname,
    argument,
    lane,
    span,
    target
  }));
  const at = new Map(rows.map((row, n) => [row.offset, n]));
  for (const row of rows) {
    row.to = at.get(row.target) ?? -1;
  }
  return { ...code, rows, at };
}
function makePools({ words, values, cards }) {
  const word = (n) => words[n] ?? "";
  const value = (n) => {
    if (n < 0) {
      return null;
    }
    const [text, kind, same, key] = values[n];
    return { words: word(text), kind: word(kind), same: word(same), key };
  };
  const card = (n) => {
    const [number, name, line, state, pairs, stack] = cards[n];
    const names = pairs.map(([variable, text]) => [word(variable), word(text)]);
    return { number, name: word(name), line, state: word(state), names, stack: stack.map(word) };
  };
  return { word, value, card };
}
function makePictureReader(picture) {
  const known = /* @__PURE__ */ new Map();
  return (letters) => {
    if (!known.has(letters)) {
      const pairs = picture.keys.map((key, i) => [key, PICTURE_STATES[letters[i]]]);
      known.set(letters, Object.fromEntries(pairs.filter(([, state]) => state)));
    }
    return known.get(letters);
  };
}
function readStep(track, n, { script, codes, pools, readPicture }) {
  const { word, value, card } = pools;
  const code = track.code == null ? null : codes[track.code];
  return {
    ...track,
    n,
    code,
    label: word(track.label),
    short: word(track.short),
    says: word(track.says),
    handler: word(track.handler),
    ending: word(track.ending),
    deed: word(track.deed),
    handed: word(track.handed),
    row: code ? code.at.get(track.offset) : -1,
    thrower: code ? code.at.get(track.raised) ?? -1 : -1,
    stack: track.stack ? track.stack.map(value) : null,
    locals: track.locals ? track.locals.map(value) : null,
    callers: (track.callers ?? []).map(card),
    shelf: (track.shelf ?? []).map(card),
    cards: (track.cards ?? []).map(card),
    printed: readPrinted(track.printed, script.printed, word),
    picture: track.picture == null ? null : readPicture(track.picture),
    panels: track.panels ?? []
  };
}
function readPrinted(printed, all, word) {
  return typeof printed === "number" ? all.slice(0, printed) : word(printed?.[0]);
}

// stage/status.js
var LEAST_HEIGHT = 30;
var MOST_PROBED = 4;
function describeStep(status, step, total, remark = "") {
  const row = step.code?.rows[step.row];
  const short = row ? nameInstruction(row) : step.short;
  const number = remark ? makeElement("span", "", `${remark} `) : makeElement("span", "stage-unseen", `Step ${step.n + 1} of ${total}: `);
  status.replaceChildren(number, makeElement("b", "stage-short", short));
  if (step.says) {
    status.append(" ", makeElement("span", "stage-tells", step.says));
  }
}
function reserveHeight(status, script) {
  if (Number(status.dataset.width) === status.clientWidth) {
    return;
  }
  status.dataset.width = status.clientWidth;
  const probe = makeElement("div", status.className, "", {
    "aria-hidden": "true",
    style: "min-height:0;visibility:hidden"
  });
  status.after(probe);
  const heights = findLongest(script).map((n) => {
    describeStep(probe, script.step(n), script.total);
    return probe.offsetHeight;
  });
  probe.remove();
  status.style.minHeight = `${Math.max(LEAST_HEIGHT, ...heights)}px`;
}
function findLongest({ tracks, words }) {
  const lengthOf = (word) => (words[word] ?? "").length;
  const sized = tracks.map(({ label, says }, n) => ({ n, size: lengthOf(label) + lengthOf(says) }));
  sized.sort((a, b) => b.size - a.size);
  return sized.slice(0, MOST_PROBED).map(({ n }) => n);
}

// shared/keys.js
function hasModifier(event) {
  return event.ctrlKey || event.metaKey || event.altKey;
}

// stage/step_keys.js
var back = (at) => at - 1;
var forward = (at) => at + 1;
var STEP_KEYS = {
  ArrowLeft: back,
  ArrowUp: back,
  PageUp: back,
  ArrowRight: forward,
  ArrowDown: forward,
  PageDown: forward,
  Home: () => 0,
  End: () => Number.POSITIVE_INFINITY
};
var SLIDER_KEYS = {
  ...STEP_KEYS,
  ArrowUp: forward,
  PageUp: forward,
  ArrowDown: back,
  PageDown: back
};
var SIDEWAYS = ["ArrowLeft", "ArrowRight"];
function listenForKeys(root, go, signal) {
  const handleKey = (event) => {
    const { target, key } = event;
    if (!root.contains(target) || target.closest("input")) {
      return;
    }
    if (target.closest("select")) {
      event.stopPropagation();
      return;
    }
    const choose = (target.closest(".course-slider") ? SLIDER_KEYS : STEP_KEYS)[key];
    const isOurs = choose || key === "Enter" || key === " ";
    if (hasModifier(event) || event.shiftKey || !isOurs) {
      return;
    }
    event.stopPropagation();
    const scrolls = target.closest(".course-scrolls") && !SIDEWAYS.includes(key);
    if (choose && !scrolls) {
      event.preventDefault();
      go(choose);
    }
  };
  window.addEventListener("keydown", handleKey, { capture: true, signal });
}

// stage/strip_layout.js
var STEP_WIDTH = 20;
var LANE_HEIGHT = 11;
var TOP = 4;
var MARK_HEIGHT = 10;
var EDGES2 = 6;
var LEAST_LANES = 2;
var MANY_STEPS = 300;
var GAP = { many: 1, few: 4 };
function measureStrip(lanes) {
  return Math.max(LEAST_LANES, lanes) * LANE_HEIGHT + EDGES2;
}
function layOutStrip({ total, tracks, lanes }, newLines, height) {
  const gap = total > MANY_STEPS ? GAP.many : GAP.few;
  const width = STEP_WIDTH - 2 * gap;
  const marks = lanes.map(() => "");
  let folds = "";
  tracks.forEach(({ lane }, n) => {
    const x = n * STEP_WIDTH + gap;
    if (lane >= 0) {
      marks[lane] += `M${x} ${TOP + LANE_HEIGHT * lane}h${width}v${MARK_HEIGHT}h${-width}z`;
    } else {
      folds += `M${x} ${TOP}h${width}v${height - 2 * TOP}h${-width}z`;
    }
  });
  const ticks = newLines.map((n) => `M${n * STEP_WIDTH} 2V${height - 2}`).join("");
  const middles = lanes.map((_, n) => TOP + MARK_HEIGHT / 2 + LANE_HEIGHT * n);
  return { width: total * STEP_WIDTH, middles, marks, folds, ticks };
}

// stage/strip.js
var LEAST_CURSOR = 7;
function makeStrip(script, go) {
  const { lanes, total } = script;
  const newLines = findNewLines(script);
  const raises = findRaises(script);
  const extraLanes = [newLines, raises].filter((steps) => steps.length).length;
  const height = measureStrip(lanes.length + extraLanes);
  const box = makeElement("div", "stage-strip-row", "", { style: `height:${height}px` });
  const slider = makeElement("div", "course-slider", "", {
    role: "slider",
    tabindex: "0",
    "aria-label": "Step",
    "aria-valuemin": 1,
    "aria-valuemax": total
  });
  const cursor = makeElement("div", "stage-cursor", "", {
    style: `width:max(${LEAST_CURSOR}px, ${100 / total}%)`
  });
  slider.append(cursor, drawSteps(script, newLines, height));
  slider.append(...raises.map((n) => drawRaise(n, total)));
  box.append(drawLabels(lanes, newLines, raises), slider);
  letDrag2(slider, total, go);
  const show = (n, text) => {
    cursor.style.left = `min(${100 * n / total}%, 100% - ${LEAST_CURSOR}px)`;
    slider.setAttribute("aria-valuenow", n + 1);
    slider.setAttribute("aria-valuetext", text);
  };
  return { box, show };
}
function drawLabels(lanes, newLines, raises) {
  const labels = makeElement("div", "stage-lanes", "", { "aria-hidden": "true" });
  for (const lane of lanes) {
    const label = makeElement("div", "", "");
    label.append(makeElement("i", "", "", { style: `background:${colourLane(lane)}` }), lane);
    labels.append(label);
  }
  if (newLines.length) {
    labels.append(makeElement("div", "", NEW_LINE));
  }
  if (raises.length) {
    labels.append(makeElement("div", "", `${RAISE_SIGN} raises`));
  }
  return labels;
}
function drawSteps(script, newLines, height) {
  const { width, middles, marks, folds, ticks } = layOutStrip(script, newLines, height);
  const svg = makeSvgElement("svg", {
    viewBox: `0 0 ${width} ${height}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true"
  });
  for (const y of middles) {
    makeSvgElement("line", { class: "stage-rule", x1: 0, x2: width, y1: y, y2: y }, svg);
  }
  makeSvgElement("path", { class: "stage-rule", d: ticks }, svg);
  marks.forEach((path, n) => {
    if (path) {
      makeSvgElement("path", { d: path, style: `fill:${colourLane(script.lanes[n])}` }, svg);
    }
  });
  if (folds) {
    makeSvgElement("path", { class: "stage-fold", d: folds }, svg);
  }
  return svg;
}
function drawRaise(n, total) {
  const mark = makeElement("span", "stage-raise", RAISE_SIGN, {
    style: `left:${100 * (n + 0.5) / total}%`,
    "aria-hidden": "true"
  });
  mark.title = "raises";
  return mark;
}
function letDrag2(slider, total, go) {
  const goToPointer = ({ clientX }) => {
    const { left, width } = slider.getBoundingClientRect();
    go(() => Math.floor((clientX - left) / width * total));
  };
  slider.addEventListener("pointerdown", (event) => {
    slider.setPointerCapture(event.pointerId);
    goToPointer(event);
  });
  slider.addEventListener("pointermove", (event) => {
    if (event.buttons) {
      goToPointer(event);
    }
  });
}

// stage/value_travel.js
var RESULT_VERBS = ["returns", "yields"];
function moveValues(motion, parts, before, places) {
  const change = parts.stack?.change();
  const row = before.code?.rows[before.row];
  if (!row || !change) {
    return;
  }
  const local = parts.locals?.findPlace(row.argument);
  const localPlace = local ? motion.measure(local) : null;
  const stored = row.opname.startsWith("STORE_FAST") ? localPlace : null;
  for (const { value } of change.gone) {
    const from = places.get(value.key);
    if (from && value.words !== "NULL") {
      const aside = { ...from, x: from.x + from.width + 10, width: 100 };
      motion.fly(from, stored ?? aside, value.words, true);
    }
  }
  const origin = findOrigin(row.opname, localPlace, places);
  for (const { value, block } of change.fresh) {
    const from = value.words === "NULL" ? null : origin;
    motion.arrive(block, from, value.words, before.taken > 0);
  }
}
function findOrigin(opname, localPlace, places) {
  if (opname.startsWith("LOAD_FAST")) {
    return localPlace;
  }
  return opname.startsWith("LOAD_") ? places.get("lit") : null;
}
function moveResultToCaller(motion, parts, before, now, places) {
  const value = before.stack?.at(-1);
  if (!value || !RESULT_VERBS.some((verb) => before.ending === `${verb} ${value.words}`)) {
    return;
  }
  const from = places.get(value.key);
  const block = parts.stack?.blocks.get(now.stack?.at(-1)?.key);
  if (from && block?.classList.contains("stage-fresh")) {
    motion.arrive(block, from, value.words, false);
  }
}

// stage.js
var NAMES = /* @__PURE__ */ Symbol.for("course.stage.names");
var STEPS_TO_ASK = 60;
globalThis[NAMES] ??= /* @__PURE__ */ new Set();
var claimedNames = globalThis[NAMES];
function render({ model, el }) {
  const script = readScript(model.get("script"));
  const name = claimName(script.title);
  const closing = new AbortController();
  const root = makeElement("div", "course-stage", "", { role: "group", "aria-label": name });
  el.append(root);
  const stop = play(script, model, root, closing.signal);
  return () => {
    stop();
    closing.abort();
    claimedNames.delete(name);
  };
}
function claimName(title) {
  const wanted = title || "Stage";
  let name = wanted;
  for (let n = 2; claimedNames.has(name); n++) {
    name = `${wanted} (${n})`;
  }
  claimedNames.add(name);
  return name;
}
function play(script, model, root, signal) {
  const { total } = script;
  const top = makeTop(script);
  root.append(top);
  if (!total) {
    return () => {
    };
  }
  let question = null;
  const clamp = (n) => Math.max(0, Math.min(total - 1, n));
  const at = () => clamp(model.get("index"));
  const moveTo = (index) => {
    question?.close();
    model.set("index", index);
    save(model);
  };
  const go = (choose) => {
    const index = clamp(choose(at()));
    const isAsked = index === at() + 1 && question?.ask(at());
    if (index !== at() && !isAsked) {
      moveTo(index);
    }
  };
  const { main, parts, over } = makeParts(script, go);
  question = hasQuestions(script) ? makeQuestion(script, over, moveTo, at) : null;
  const strip = makeStrip(script, go);
  const status = makeStatus("course-status stage-says");
  const remark = (text) => describeStep(status, script.step(at()), total, text);
  const controls = makeControls(script, go, question?.turn, parts.picture?.changes, remark);
  const legend = makeLegend(script);
  top.append(legend.button);
  root.append(main, legend.list, status, strip.box, controls.box);
  const motion = makeMotion(root);
  let drawn = -1;
  const draw = () => {
    const n = at();
    drawParts(script, parts, motion, n, drawn);
    describeStep(status, script.step(n), total);
    strip.show(n, status.textContent);
    controls.show(n);
    parts.panels?.tidy();
    drawn = n;
  };
  const sizes = watchSizes(script, root, parts, status, at);
  model.on("change:index", draw);
  listenForKeys(root, go, signal);
  lightWords();
  draw();
  return () => {
    controls.stop();
    motion.stop();
    model.off("change:index", draw);
    sizes.disconnect();
  };
}
function makeTop({ title, note }) {
  const top = makeElement("div", "stage-top-row", "");
  if (title) {
    top.append(makeElement("div", "stage-title", title));
  }
  if (note) {
    top.append(makeElement("div", "stage-note", note));
  }
  return top;
}
function hasQuestions(script) {
  const first = script.tracks.slice(0, STEPS_TO_ASK);
  return script.total > 1 && first.some((_, n) => findQuestion(script, n));
}
function drawParts(script, parts, motion, n, drawn) {
  const now = script.step(n);
  const before = n ? script.step(n - 1) : null;
  const isStill = prefersStillness();
  const moving = drawn >= 0 && n === drawn + 1 && !isStill;
  motion.stop();
  const places = moving ? measureValues(parts, motion) : null;
  const moment = {
    now,
    before,
    last: script.before(n),
    // of the same call
    after: script.after(n),
    moving,
    // one step forward
    steady: Math.abs(n - drawn) === 1 && !isStill
    // one step, either way
  };
  for (const part of Object.values(parts)) {
    part.show(moment);
  }
  if (moving && before.call === now.call) {
    moveValues(motion, parts, before, places);
  } else if (moving) {
    moveResultToCaller(motion, parts, before, now, places);
  }
}
function measureValues(parts, motion) {
  const blocks = [...parts.stack?.blocks ?? []];
  const places = new Map(blocks.map(([key, block]) => [key, motion.measure(block)]));
  if (parts.source && !parts.source.lit.hidden) {
    places.set("lit", motion.measure(parts.source.lit));
  }
  return places;
}
function watchSizes(script, root, parts, status, at) {
  const sizes = new ResizeObserver(() => {
    parts.panels?.tidy();
    parts.source?.tidy(script.step(at()));
    reserveHeight(status, script);
  });
  sizes.observe(root);
  if (parts.source) {
    sizes.observe(parts.source.box);
  }
  return sizes;
}
var stage_default = { render };
export {
  stage_default as default
};
