// Pick a switch, change its lines if you like, run them in a fresh interpreter, read the transcript.
// State: title, note, labels, sources (they follow what is typed), answer ({says, shown, number,
// of}, from the kernel; `of` is the label that was asked for).

import { makeElement, makeStatus } from "./shared/elements.js";
import { makeAsker, save } from "./shared/kernel.js";
import { keepKeys } from "./shared/keys.js";

const PATIENCE = 90000; // milliseconds: a fresh interpreter may have to import TensorFlow
const RUN_LABELS = {
  button: "Run in a fresh interpreter",
  code: "Lines to run (you can edit them)",
};
// of a page without Python, which plays recorded runs
const RECORDED_LABELS = {
  button: "Show the recorded run",
  code: "Lines of the recorded run (edit them in the notebook)",
};
let formCount = 0;

function render({ model, el }) {
  const closing = new AbortController();
  const { form, pick, code, status, transcript } = makeForm(model);
  el.append(form);

  const { ask, stopWaiting } = makeAsker(model, status, PATIENCE, "new switches");
  const lines = [...model.get("sources")]; // what was typed stays with its switch
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
    transcript.innerHTML = answer.shown; // a transcript of the kernel's, escaped there
  };
  pick.addEventListener("change", load);
  code.addEventListener("input", () => {
    lines[Number(pick.value)] = code.value;
    model.set("sources", [...lines]); // they are there when the page is opened again
    save(model);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    transcript.replaceChildren();
    ask({ label: currentLabel(), source: code.value });
  });
  model.on("change:answer", showAnswer);
  keepKeys(form, closing.signal);

  const lastShown = model.get("labels").indexOf(model.get("answer").of); // before it was opened again
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
    wrap: "off",
  });
  code.readOnly = recorded;
  const bar = makeElement("div", "course-controls", "");
  bar.append(makeElement("button", "course-button", labels.button, { type: "submit" }));
  const status = makeStatus();
  const transcript = makeElement("div", "course-transcript", "", {
    role: "region",
    "aria-label": "Transcript",
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

export default { render };
