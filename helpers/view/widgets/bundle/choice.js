// Bundled by tools/bundle_scripts.py from helpers/view/scripts/choice.js, sha256 d24ff61188fcf1dc0a47ee5ae9c42d43a9e87a2040acb741c98688c17f6d57e2

// choice/verdict.js
function wordVerdict({ choices, answer, verb, why, picked, checked, skipped }) {
  const stop = /[.!?]$/.test(choices[answer]) ? "" : ".";
  const ran = `${verb} ${choices[answer]}${stop} `;
  if (skipped) {
    return { mark: "Skipped:", text: ` it ran and ${ran}`, why };
  }
  if (!checked) {
    return { mark: "", text: "", why: "" };
  }
  if (picked < 0) {
    return { mark: "", text: "Choose one first, or skip the question.", why: "" };
  }
  if (picked === answer) {
    return { mark: "✓ Right:", text: ` it ran and ${ran}`, why };
  }
  const chose = ` you chose ${choices[picked]}; running it ${ran}`;
  return { mark: "✗ Not this time:", text: chose, why };
}
function wordMark(index, answer, picked) {
  if (picked < 0) {
    return "";
  }
  if (index === answer) {
    return index === picked ? "✓ your choice, and right" : "✓ right";
  }
  return index === picked ? "✗ your choice" : "";
}
function splitCode(text) {
  const pieces = text.split("`");
  if (pieces.length % 2 === 0) {
    return [{ text, isCode: false }];
  }
  return pieces.map((piece, i) => ({ text: piece, isCode: i % 2 === 1 }));
}

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

// shared/kernel.js
function save(model) {
  try {
    model.save_changes();
  } catch {
  }
}
async function isKnown(model) {
  const manager = model.widget_manager;
  if (!manager || !("kernel" in manager)) {
    return true;
  }
  if (!manager.kernel) {
    return false;
  }
  try {
    const { content } = await manager.kernel.requestCommInfo({ target_name: "jupyter.widget" });
    return !content.comms || !model.get("own") || model.get("own") in content.comms;
  } catch {
    return false;
  }
}
function request(model, content, patience, report) {
  let open = true;
  let isLate = false;
  const waiting = setInterval(() => {
    if (!isLate) {
      isLate = true;
      report("late");
    }
    askWhetherKnown();
  }, patience);
  const stopWaiting = () => {
    open = false;
    clearInterval(waiting);
  };
  const reportGone = () => {
    if (open) {
      stopWaiting();
      report("gone");
    }
  };
  const askWhetherKnown = () => isKnown(model).then((known) => known || reportGone());
  try {
    model.send(content);
    askWhetherKnown();
  } catch {
    reportGone();
  }
  return stopWaiting;
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

// choice.js
var PATIENCE = 8e3;
var LATE = "Your choice is not recorded yet: a busy kernel records it later, and after a restart this cell must run again.";
var GONE = "because no kernel knows this question any more. To record it, run this cell again, after those that it needs.";
var NOT_RECORDED = { late: LATE, gone: `Your choice is not recorded, ${GONE}` };
var UNKNOWN = { late: LATE, gone: `It is not known whether your choice was recorded, ${GONE}` };
var DECISIONS = "change:picked change:checked change:skipped";
var UNRECORDED = /* @__PURE__ */ Symbol.for("course.unrecorded");
globalThis[UNRECORDED] ??= /* @__PURE__ */ new Map();
var unrecorded = globalThis[UNRECORDED];
var presses = 0;
function render({ model, el }) {
  const closing = new AbortController();
  const form = makeForm(model);
  const recorder = makeRecorder(model, keep, draw);
  el.append(form.root);
  function keep(changes) {
    model.set(changes);
    save(model);
    draw();
  }
  function draw() {
    showDecision(form, model, recorder.problem());
    if (isDecided(model) || model.get("skipped")) {
      openWhatWaits(el);
    }
  }
  listen(form, model, keep, recorder);
  model.on(DECISIONS, draw);
  model.on("change:told", recorder.hear);
  keepKeys(form.root, closing.signal);
  lightWords();
  draw();
  recorder.hear();
  recorder.resume();
  return () => {
    model.off(DECISIONS, draw);
    model.off("change:told", recorder.hear);
    recorder.stopWaiting();
    closing.abort();
  };
}
function makeForm(model) {
  const root = makeElement("form", "course-form course-choice", "");
  const field = makeElement("fieldset", "", "");
  const question = makeElement("legend", "", "");
  appendText(question, model.get("question"));
  field.append(question);
  const radios = model.get("choices").map((choice, i) => {
    const label = makeElement("label", "", "");
    const radio = makeElement("input", "", "", { type: "radio", name: "choice", value: i });
    label.append(radio, makeElement("span", "", choice), makeElement("span", "course-verdict", ""));
    field.append(label);
    return radio;
  });
  const bar = makeElement("div", "course-controls", "");
  const check = makeButton("course-check", "Check", "submit");
  const skip = makeButton("course-skip", "Skip", "button");
  const again = makeButton("course-again", "Try again", "button");
  bar.append(check, skip, again);
  const status = makeStatus();
  root.append(field, bar, status);
  return { root, radios, check, skip, again, status };
}
function makeButton(className, text, type) {
  return makeElement("button", `course-button ${className}`, text, { type });
}
function appendText(element, text) {
  for (const piece of splitCode(text)) {
    element.append(piece.isCode ? makeElement("code", "", piece.text) : piece.text);
  }
}
function listen({ root, radios, skip, again }, model, keep, recorder) {
  radios.forEach((radio, i) => {
    radio.addEventListener("change", () => keep({ picked: i, checked: false, skipped: false }));
  });
  root.addEventListener("submit", (event) => {
    event.preventDefault();
    const decides = !model.get("checked") && model.get("picked") >= 0;
    if (decides && model.get("keeps")) {
      recorder.record(model.get("picked"), NOT_RECORDED);
    } else {
      keep({ checked: true });
    }
  });
  skip.addEventListener("click", () => keep({ skipped: true }));
  again.addEventListener("click", () => {
    keep({ picked: -1, checked: false });
    radios[0].focus();
  });
}
function makeRecorder(model, keep, draw) {
  const question = model.get("question");
  const choices = model.get("choices");
  let problem = "";
  let stopRequest = () => {
  };
  const stopWaiting = () => stopRequest();
  const showProblem = (text) => {
    problem = text;
    draw();
  };
  const record = (picked, problems) => {
    stopWaiting();
    problem = "";
    unrecorded.set(question, choices[picked]);
    presses += 1;
    const press = `${Date.now()}-${presses}`;
    keep({ picked, checked: true, skipped: false, press });
    stopRequest = request(
      model,
      { said: picked, press },
      PATIENCE,
      (kind) => showProblem(problems[kind])
    );
  };
  const hear = () => {
    const { press, why } = model.get("told");
    if (!press || press !== model.get("press")) {
      return;
    }
    stopWaiting();
    if (!why) {
      unrecorded.delete(question);
    }
    showProblem(why);
  };
  const resume = () => {
    const before = choices.indexOf(unrecorded.get(question));
    if (!model.get("keeps")) {
      return;
    }
    if (before >= 0) {
      record(before, NOT_RECORDED);
    } else if (wasLeft(model)) {
      record(model.get("picked"), UNKNOWN);
    }
  };
  return { record, hear, resume, stopWaiting, problem: () => problem };
}
function wasLeft(model) {
  const press = model.get("press");
  return model.get("checked") && press && press !== model.get("told").press;
}
function isDecided(model) {
  return model.get("checked") && model.get("picked") >= 0;
}
function showDecision({ radios, check, skip, again, status }, model, problem) {
  const picked = model.get("picked");
  const decided = isDecided(model);
  radios.forEach((radio, i) => {
    radio.checked = i === picked;
    markLabel(radio.parentElement, i, model.get("answer"), model.get("checked") ? picked : -1);
  });
  const names = ["choices", "answer", "verb", "why", "picked", "checked", "skipped"];
  const decision = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const { mark, text, why } = wordVerdict(decision);
  status.replaceChildren(makeElement("strong", "", mark), text);
  appendText(status, why);
  if (problem) {
    status.append(makeElement("div", "course-missing", problem));
  }
  again.style.visibility = decided ? "" : "hidden";
  if (decided && check.matches(":focus")) {
    radios[picked].focus({ preventScroll: true });
  }
  check.style.display = decided ? "none" : "";
  skip.style.display = decided || model.get("skipped") ? "none" : "";
}
function markLabel(label, index, answer, picked) {
  const right = index === answer;
  label.classList.toggle("course-right", picked >= 0 && right);
  label.classList.toggle("course-wrong", picked >= 0 && index === picked && !right);
  label.querySelector(".course-verdict").textContent = wordMark(index, answer, picked);
}
function openWhatWaits(el) {
  let cell = el.closest(".jp-Cell, .book-cell")?.nextElementSibling;
  while (cell && !cell.querySelector(".course-choice, h1, h2, h3")) {
    cell.querySelector(".jp-InputPlaceholder")?.click();
    for (const details of cell.querySelectorAll(".course-held")) {
      details.open = true;
      details.querySelector("summary").style.display = "none";
    }
    cell = cell.nextElementSibling;
  }
}
var choice_default = { render };
export {
  choice_default as default
};
