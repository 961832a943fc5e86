// Pick a switch, change its lines if you like, run them in a fresh interpreter, read the transcript.
// State: title, note, labels, sources, answer ({says, shown, number}, from the kernel).

const PATIENCE = 90000; // milliseconds: a fresh interpreter may have to import TensorFlow
const NO_KERNEL = "The kernel does not answer. Run this cell again to make new switches.";
let made = 0;

function make(tag, className, words, attributes = {}) {
  const node = document.createElement(tag);
  node.className = className;
  if (words) node.textContent = words;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** Arrows, Enter and Space inside `root` are ours; JupyterLab must not move between cells. */
function keepKeys(root, signal) {
  const onKey = (event) => {
    if (!root.contains(event.target)) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.key.startsWith("Arrow") || event.key === "Enter" || event.key === " ")
      event.stopPropagation();
  };
  window.addEventListener("keydown", onKey, { capture: true, signal });
}

function labelled(words, node) {
  const label = make("label", "", words, { for: node.id });
  return [label, node];
}

function render({ model, el }) {
  const closing = new AbortController();
  const id = `course-switches-${++made}`;
  const form = make("form", "course-switches", "");
  const field = make("fieldset", "", "");
  const pick = make("select", "", "", { id: `${id}-pick` });
  model.get("labels").forEach((label, i) => pick.append(make("option", "", label, { value: i })));
  const code = make("textarea", "course-code", "", {
    id: `${id}-code`, rows: 8, spellcheck: "false", autocapitalize: "off", wrap: "off",
  });
  const bar = make("div", "course-controls", "");
  bar.append(make("button", "course-button", "Run in a fresh interpreter", { type: "submit" }));
  const status = make("div", "course-status", "", { role: "status", "aria-live": "polite" });
  const shown = make("div", "course-transcript", "", { role: "region", "aria-label": "Transcript" });
  field.append(make("legend", "", model.get("title")), ...labelled("Switch", pick));
  field.append(...labelled("Lines to run (yours to change)", code));
  field.append(make("p", "", model.get("note")), bar);
  form.append(field, status, shown);
  el.append(form);

  let waiting = 0;
  const load = () => {
    code.value = model.get("sources")[Number(pick.value)];
    status.replaceChildren();
    shown.replaceChildren();
  };
  const tell = () => {
    const answer = model.get("answer");
    if (!answer.says) return;
    clearTimeout(waiting);
    status.replaceChildren(answer.says);
    shown.innerHTML = answer.shown; // a transcript of the kernel's, escaped there
  };
  pick.addEventListener("change", load);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    status.replaceChildren("Running…");
    shown.replaceChildren();
    clearTimeout(waiting);
    waiting = setTimeout(() => status.replaceChildren(NO_KERNEL), PATIENCE);
    model.send({ label: model.get("labels")[Number(pick.value)], source: code.value });
  });
  model.on("change:answer", tell);
  keepKeys(form, closing.signal);
  load();
  tell();
  return () => {
    model.off("change:answer", tell);
    clearTimeout(waiting);
    closing.abort();
  };
}

export default { render };
