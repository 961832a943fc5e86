// Pick a call, foretell it, run it in the kernel, and see the truth.
// State: title, note, ask, verdicts, picked (name -> option), controls ([name, options, of,
// matters]), call (code, from the kernel), answer ({says, right, rows}, from the kernel; or {says,
// stopped}; with them what was asked: `of`, the choices, `call`, their code, and `press`, a name of
// its own).

import { compareCalls, counts, isSameChoice } from "./sandbox/calls.js";
import { makeElement, makeStatus } from "./shared/elements.js";
import { explainGone, isKnown, makeAsker, save } from "./shared/kernel.js";
import { keepKeys } from "./shared/keys.js";

const PATIENCE = 8000; // milliseconds; a first trace takes well under one of them
const NEW_SANDBOX = "a new sandbox";
const PREDICT_FIRST = "Predict first: hit, trace or error?";

function render({ model, el }) {
  const closing = new AbortController();
  const form = makeForm(model, pick);
  el.append(form.root);
  const { ask, stopWaiting } = makeAsker(model, form.status, PATIENCE, NEW_SANDBOX);
  const past = []; // the calls that ran, the last one last
  const nextQuestion = makeQuestions();

  const draw = () => showCall(form, model, past);
  const showAnswer = () => {
    const answer = model.get("answer");
    if (!answer.says) {
      return;
    }
    stopWaiting();
    nextQuestion.forget();
    showStatus(form, model);
    showRows(form, answer.rows, past.at(-1));
    past.push(answer.call);
    draw();
  };
  function pick(name, option) {
    model.set("picked", { ...model.get("picked"), [name]: option });
    save(model);
    clearStatus(form);
    draw();
    showStatus(form, model);
    isKnown(model).then((known) => {
      if (!known) {
        model.set("call", ""); // what is there is the code of another choice
        form.status.replaceChildren(explainGone(NEW_SANDBOX));
      }
    });
  }
  form.root.addEventListener("submit", (event) => {
    event.preventDefault();
    const guess = form.guesses.find((radio) => radio.checked);
    if (guess) {
      ask(nextQuestion.make(guess.value, model.get("picked")));
    } else {
      form.status.replaceChildren(PREDICT_FIRST);
    }
  });
  model.on("change:picked change:call", draw);
  model.on("change:answer", showAnswer);
  keepKeys(form.root, closing.signal);
  draw();
  showAnswer();
  return () => {
    model.off("change:picked change:call", draw);
    model.off("change:answer", showAnswer);
    stopWaiting();
    closing.abort();
  };
}

function makeForm(model, pick) {
  const root = makeElement("form", "course-form course-sandbox", "");
  const call = makeElement("fieldset", "course-call", "");
  call.append(makeElement("legend", "", model.get("title")));
  call.append(makeElement("p", "", model.get("note")));
  const boxes = new Map(); // name of a control -> its element
  for (const [name, options] of model.get("controls")) {
    const { label, box } = makeSelect(name, options, model.get("picked")[name], pick);
    boxes.set(name, box);
    call.append(label);
  }
  const code = makeElement("code", "course-code", "");
  const { field, guesses } = makeRadios(model.get("ask"), model.get("verdicts"));
  const bar = makeElement("div", "course-controls", "");
  bar.append(makeElement("button", "course-button", "Run the call", { type: "submit" }));
  const status = makeStatus();
  const lastRun = makeElement("div", "", "");
  const runs = makeElement("div", "course-runs", "");
  const rows = makeElement("div", "course-rows", "");
  const oldRows = makeElement("div", "course-past", "");
  runs.append(rows, oldRows);
  root.append(call, code, field, bar, status, lastRun, runs);
  return { root, boxes, code, guesses, status, lastRun, rows, oldRows };
}

function makeSelect(name, options, picked, pick) {
  const label = makeElement("label", "", "");
  const box = makeElement("select", "", "");
  for (const option of options) {
    box.append(makeElement("option", "", option, { value: option }));
  }
  box.value = picked;
  box.addEventListener("change", () => pick(name, box.value));
  label.append(makeElement("span", "", name), box);
  return { label, box };
}

function makeRadios(ask, verdicts) {
  const field = makeElement("fieldset", "course-guess", "");
  field.append(makeElement("legend", "", ask));
  const guesses = verdicts.map((verdict) => {
    const label = makeElement("label", "", "");
    const radio = makeElement("input", "", "", { type: "radio", name: "guess", value: verdict });
    label.append(radio, makeElement("span", "", verdict));
    field.append(label);
    return radio;
  });
  return { field, guesses };
}

/** Give each question a name; one that is pressed again before it was answered has the same. */
function makeQuestions() {
  let lastQuestion = "";
  let press = "";
  let presses = 0;
  const make = (guess, picked) => {
    const question = { guess, picked };
    const text = JSON.stringify(question);
    if (text !== lastQuestion) {
      presses += 1;
      press = `${Date.now()}-${presses}`;
    }
    lastQuestion = text;
    return { ...question, press };
  };
  const forget = () => {
    lastQuestion = "";
  };
  return { make, forget };
}

function clearStatus({ guesses, status }) {
  for (const radio of guesses) {
    radio.checked = false;
  }
  status.replaceChildren();
  status.dataset.is = "";
}

/** Show the choices, and the code of the call with what is not as in the run before it. */
function showCall({ boxes, code }, model, past) {
  const picked = model.get("picked");
  const call = model.get("call");
  const answer = model.get("answer");
  const controls = model.get("controls");
  for (const control of controls) {
    const box = boxes.get(control[0]);
    box.value = picked[control[0]];
    box.disabled = !counts(control, picked);
  }
  const hasRun = answer.of && isSameChoice(controls, answer.of, picked) && answer.call === call;
  const before = past.at(hasRun ? -2 : -1) ?? "";
  const pieces = compareCalls(call, before);
  code.replaceChildren(
    ...pieces.map(({ text, isNew }) => (isNew ? makeElement("mark", "", text) : text)),
  );
}

/** Show the answer as the status of its own choices; of others it stands below, as the last run. */
function showStatus({ status, lastRun }, model) {
  const answer = model.get("answer");
  if (!answer.says) {
    return;
  }
  const mark = makeElement("strong", "", answer.right ? "✓ Right:" : "✗ Not this time:");
  const sentence = answer.stopped ? [answer.says] : [mark, " ", answer.says];
  lastRun.replaceChildren();
  if (!answer.of || isSameChoice(model.get("controls"), answer.of, model.get("picked"))) {
    status.replaceChildren(...sentence);
    status.dataset.is = judge(answer);
    return;
  }
  status.replaceChildren();
  status.dataset.is = "";
  const last = makeElement("p", "", "");
  last.append(...sentence);
  lastRun.append(makeElement("p", "", "The last run was of"));
  lastRun.append(makeElement("code", "course-code", answer.call), last);
}

function judge({ stopped, right }) {
  if (stopped) {
    return "";
  }
  return right ? "right" : "wrong";
}

/** Show the rows of a run, and those of the run before unless the new ones contain them. */
function showRows({ rows, oldRows }, html, lastCall) {
  const old = rowsOf(rows);
  if (rows.hasChildNodes()) {
    oldRows.replaceChildren(makeElement("p", "", "The run before: "), ...rows.childNodes);
  }
  oldRows.firstChild?.append(makeElement("code", "", lastCall ?? ""));
  rows.innerHTML = html; // a ledger of the kernel's, escaped there

  const texts = rowsOf(rows).map((row) => row.textContent);
  if (old.length && old.every((row) => texts.includes(row.textContent))) {
    oldRows.replaceChildren();
  }
  for (const row of old) {
    row.classList.remove("course-fresh");
  }
  rowsOf(rows).at(-1)?.classList.add("course-fresh"); // this call
  for (const details of rows.querySelectorAll("details")) {
    details.open = true;
  }
}

function rowsOf(table) {
  return [...table.querySelectorAll("tbody tr")];
}

export default { render };
