// Bundled by tools/bundle_scripts.py from helpers/view/scripts/rerun.js, sha256 c1c8034a875b2ba49b3adbd9bebd080ed8b16fda6054798fdaa095b52d932672

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

// rerun.js
var PATIENCE = 9e4;
var RUN_LABELS = {
  button: "Run in a fresh interpreter",
  code: "Lines to run (you can edit them)"
};
var RECORDED_LABELS = {
  button: "Show the recorded run",
  code: "Lines of the recorded run (edit them in the notebook)"
};
var formCount = 0;
function render({ model, el }) {
  const closing = new AbortController();
  const { form, pick, code, status, transcript } = makeForm(model);
  el.append(form);
  const { ask, stopWaiting } = makeAsker(model, status, PATIENCE, "new switches");
  const lines = [...model.get("sources")];
  const currentLabel = () => model.get("labels")[Number(pick.value)];
  const load = () => {
    stopWaiting();
    code.value = lines[Number(pick.value)];
    status.replaceChildren();
    transcript.replaceChildren();
  };
  const showAnswer = () => {
    const answer = model.get("answer");
    if (!answer.says || (answer.of ?? currentLabel()) !== currentLabel()) {
      return;
    }
    stopWaiting();
    status.replaceChildren(answer.says);
    transcript.innerHTML = answer.shown;
  };
  pick.addEventListener("change", load);
  code.addEventListener("input", () => {
    lines[Number(pick.value)] = code.value;
    model.set("sources", [...lines]);
    save(model);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    transcript.replaceChildren();
    ask({ label: currentLabel(), source: code.value });
  });
  model.on("change:answer", showAnswer);
  keepKeys(form, closing.signal);
  const lastShown = model.get("labels").indexOf(model.get("answer").of);
  if (lastShown >= 0) {
    pick.value = lastShown;
  }
  load();
  showAnswer();
  return () => {
    model.off("change:answer", showAnswer);
    stopWaiting();
    closing.abort();
  };
}
function makeForm(model) {
  formCount += 1;
  const id = `course-switches-${formCount}`;
  const recorded = model.get("keeps") === false;
  const labels = recorded ? RECORDED_LABELS : RUN_LABELS;
  const form = makeElement("form", "course-form course-switches", "");
  const field = makeElement("fieldset", "", "");
  const pick = makeElement("select", "", "", { id: `${id}-pick` });
  model.get("labels").forEach((label, i) => {
    pick.append(makeElement("option", "", label, { value: i }));
  });
  const code = makeElement("textarea", "course-code", "", {
    id: `${id}-code`,
    rows: 8,
    spellcheck: "false",
    autocapitalize: "off",
    wrap: "off"
  });
  code.readOnly = recorded;
  const bar = makeElement("div", "course-controls", "");
  bar.append(makeElement("button", "course-button", labels.button, { type: "submit" }));
  const status = makeStatus();
  const transcript = makeElement("div", "course-transcript", "", {
    role: "region",
    "aria-label": "Transcript"
  });
  field.append(makeElement("legend", "", model.get("title")));
  field.append(makeLabel("Switch", pick), pick, makeLabel(labels.code, code), code);
  field.append(makeElement("p", "", model.get("note")), bar);
  form.append(field, status, transcript);
  return { form, pick, code, status, transcript };
}
function makeLabel(text, control) {
  return makeElement("label", "", text, { for: control.id });
}
var rerun_default = { render };
export {
  rerun_default as default
};
