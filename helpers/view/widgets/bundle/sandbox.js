// Bundled by tools/bundle_scripts.py from helpers/view/scripts/sandbox.js, sha256 d64dca294061ac7dc10a787be02da6b1b267d7d49bcd13e2ef07c34eedbd8e52

// sandbox/calls.js
function compareCalls(call, before) {
  const pieces = splitCall(call);
  const old = splitCall(before);
  const alike = pieces.length === old.length;
  return pieces.map((text, i) => ({ text, isNew: alike && text !== old[i] }));
}
function counts([, , of, matters], picked) {
  return of === "" || matters.includes(picked[of]);
}
function isSameChoice(controls, choices, picked) {
  const counting = controls.filter((control) => counts(control, picked));
  return counting.every(([name]) => choices[name] === picked[name]);
}
function splitCall(call) {
  return call.split(/([\w.'"]+)/);
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
function explainGone(what) {
  return `No kernel knows this exhibit any more: run this cell again, after those that it needs, to make ${what}.`;
}
function makeAsker(model, status, patience, what) {
  const problems = {
    late: `No answer yet. A busy kernel answers later. After a restart, run this cell again to make ${what}.`,
    gone: explainGone(what)
  };
  let stopRequest = () => {
  };
  const stopWaiting = () => stopRequest();
  const ask = (content) => {
    stopWaiting();
    status.replaceChildren("Running…");
    stopRequest = request(
      model,
      content,
      patience,
      (problem) => status.replaceChildren(problems[problem])
    );
  };
  return { ask, stopWaiting };
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

// sandbox.js
var PATIENCE = 8e3;
var NEW_SANDBOX = "a new sandbox";
var PREDICT_FIRST = "Predict first: hit, trace or error?";
function render({ model, el }) {
  const closing = new AbortController();
  const form = makeForm(model, pick);
  el.append(form.root);
  const { ask, stopWaiting } = makeAsker(model, form.status, PATIENCE, NEW_SANDBOX);
  const past = [];
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
        model.set("call", "");
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
  const boxes = /* @__PURE__ */ new Map();
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
    ...pieces.map(({ text, isNew }) => isNew ? makeElement("mark", "", text) : text)
  );
}
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
function showRows({ rows, oldRows }, html, lastCall) {
  const old = rowsOf(rows);
  if (rows.hasChildNodes()) {
    oldRows.replaceChildren(makeElement("p", "", "The run before: "), ...rows.childNodes);
  }
  oldRows.firstChild?.append(makeElement("code", "", lastCall ?? ""));
  rows.innerHTML = html;
  const texts = rowsOf(rows).map((row) => row.textContent);
  if (old.length && old.every((row) => texts.includes(row.textContent))) {
    oldRows.replaceChildren();
  }
  for (const row of old) {
    row.classList.remove("course-fresh");
  }
  rowsOf(rows).at(-1)?.classList.add("course-fresh");
  for (const details of rows.querySelectorAll("details")) {
    details.open = true;
  }
}
function rowsOf(table) {
  return [...table.querySelectorAll("tbody tr")];
}
var sandbox_default = { render };
export {
  sandbox_default as default
};
