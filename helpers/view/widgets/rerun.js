// Pick a switch, change its lines if you like, run them in a fresh interpreter, read the transcript.
// State: title, note, labels, sources (they follow what is typed), answer ({says, shown, number, of},
// from the kernel; `of` is the label that was asked for).

const PATIENCE = 90000; // milliseconds: a fresh interpreter may have to import TensorFlow
let made = 0;

function labelled(words, node) {
  const label = make("label", "", words, { for: node.id });
  return [label, node];
}

function render({ model, el }) {
  const closing = new AbortController();
  const id = `course-switches-${++made}`;
  const form = make("form", "course-form course-switches", "");
  const field = make("fieldset", "", "");
  const pick = make("select", "", "", { id: `${id}-pick` });
  model.get("labels").forEach((label, i) => pick.append(make("option", "", label, { value: i })));
  const code = make("textarea", "course-code", "", {
    id: `${id}-code`, rows: 8, spellcheck: "false", autocapitalize: "off", wrap: "off",
  });
  code.readOnly = model.get("keeps") === false; // a page without Python plays recorded runs
  const bar = make("div", "course-controls", "");
  bar.append(make("button", "course-button", code.readOnly ? "Show the recorded run" : "Run in a fresh interpreter", { type: "submit" }));
  const status = makeStatus();
  const shown = make("div", "course-transcript", "", { role: "region", "aria-label": "Transcript" });
  field.append(make("legend", "", model.get("title")), ...labelled("Switch", pick));
  field.append(...labelled(code.readOnly ? "Lines of the recorded run (edit them in the notebook)" : "Lines to run (you can edit them)", code));
  field.append(make("p", "", model.get("note")), bar);
  form.append(field, status, shown);
  el.append(form);

  const [ask, heard] = asker(model, status, PATIENCE, "new switches");
  const lines = [...model.get("sources")]; // what was typed stays with its switch
  const load = () => {
    heard();
    code.value = lines[Number(pick.value)];
    status.replaceChildren();
    shown.replaceChildren();
  };
  const tell = () => {
    const answer = model.get("answer");
    const label = model.get("labels")[Number(pick.value)];
    if (!answer.says || (answer.of ?? label) !== label) return;
    heard();
    status.replaceChildren(answer.says);
    shown.innerHTML = answer.shown; // a transcript of the kernel's, escaped there
  };
  pick.addEventListener("change", load);
  code.addEventListener("input", () => {
    lines[Number(pick.value)] = code.value;
    model.set("sources", [...lines]); // they are there when the page is opened again
    save(model);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    shown.replaceChildren();
    ask({ label: model.get("labels")[Number(pick.value)], source: code.value });
  });
  model.on("change:answer", tell);
  keepKeys(form, closing.signal);
  const place = model.get("labels").indexOf(model.get("answer").of); // before it was opened again
  if (place >= 0) pick.value = place;
  load();
  tell();
  return () => {
    model.off("change:answer", tell);
    heard();
    closing.abort();
  };
}

export default { render };
