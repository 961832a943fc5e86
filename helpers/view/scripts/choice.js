// A question that keeps its answer back until the learner has decided. All of it runs in the page.
// State: question, choices, answer (index), verb, why, picked (index or -1), checked, skipped.
// Where a kernel records what is decided: keeps (true), press (a name of the last decision) and,
// from the kernel, told ({press, why}: it has recorded that decision, or why it has not).

import { splitCode, wordMark, wordVerdict } from "./choice/verdict.js";
import { makeElement, makeStatus } from "./shared/elements.js";
import { request, save } from "./shared/kernel.js";
import { keepKeys } from "./shared/keys.js";
import { lightWords } from "./shared/lit_words.js";

const PATIENCE = 8000; // milliseconds
const LATE =
  "Your choice is not recorded yet: a busy kernel records it later, and after a restart this cell must run again.";
const GONE =
  "because no kernel knows this question any more. To record it, run this cell again, after those that it needs.";
const NOT_RECORDED = { late: LATE, gone: `Your choice is not recorded, ${GONE}` };
// of a page that was saved before the kernel answered, and opened again
const UNKNOWN = { late: LATE, gone: `It is not known whether your choice was recorded, ${GONE}` };
const DECISIONS = "change:picked change:checked change:skipped";

// question -> the choice that is not recorded; the widget of the cell's next run hands it on
const UNRECORDED = Symbol.for("course.unrecorded");
globalThis[UNRECORDED] ??= new Map();
const unrecorded = globalThis[UNRECORDED];
let presses = 0;

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
  const root = makeElement("form", "course-form course-choice", ""); // radios group within it
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

/** Have the kernel record what is decided, and know what to say of a choice that is not recorded. */
function makeRecorder(model, keep, draw) {
  const question = model.get("question");
  const choices = model.get("choices");
  let problem = "";
  let stopRequest = () => {};

  const stopWaiting = () => stopRequest();
  const showProblem = (text) => {
    problem = text;
    draw();
  };
  /** Send a choice; the kernel's answer comes to `hear`. */
  const record = (picked, problems) => {
    stopWaiting();
    problem = "";
    unrecorded.set(question, choices[picked]);
    presses += 1;
    const press = `${Date.now()}-${presses}`;
    keep({ picked, checked: true, skipped: false, press });
    stopRequest = request(model, { said: picked, press }, PATIENCE, (kind) =>
      showProblem(problems[kind]),
    );
  };
  const hear = () => {
    const { press, why } = model.get("told");
    if (!press || press !== model.get("press")) {
      return; // of an earlier choice
    }
    stopWaiting();
    if (!why) {
      unrecorded.delete(question);
    }
    showProblem(why);
  };
  /** Send again what an earlier run of the cell, or an earlier visit of the page, left unrecorded. */
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

/** Return whether the page was left before the kernel answered the last decision. */
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

/** Say beside a choice what it turned out to be: a mark, words, an outline; colour repeats it. */
function markLabel(label, index, answer, picked) {
  const right = index === answer;
  label.classList.toggle("course-right", picked >= 0 && right);
  label.classList.toggle("course-wrong", picked >= 0 && index === picked && !right);
  label.querySelector(".course-verdict").textContent = wordMark(index, answer, picked);
}

/** Open what waits for a decision in the cells below, up to the next question or heading. */
function openWhatWaits(el) {
  let cell = el.closest(".jp-Cell, .book-cell")?.nextElementSibling;
  while (cell && !cell.querySelector(".course-choice, h1, h2, h3")) {
    cell.querySelector(".jp-InputPlaceholder")?.click(); // code that JupyterLab shows folded
    for (const details of cell.querySelectorAll(".course-held")) {
      details.open = true;
      details.querySelector("summary").style.display = "none";
    }
    cell = cell.nextElementSibling;
  }
}

export default { render };
