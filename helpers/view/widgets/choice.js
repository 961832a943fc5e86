// A question that keeps its answer back until the learner has decided. All of it runs in the page.
// State: question, choices, answer (index), verb, why, picked (index or -1), checked.

function make(tag, className, words, attributes = {}) {
  const node = document.createElement(tag);
  node.className = className;
  if (words) node.textContent = words;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** Append words to a node; what stands between `backticks` becomes code. */
function write(node, words) {
  const parts = words.split("`");
  if (parts.length % 2 === 0) return void node.append(words); // one without its partner
  parts.forEach((part, i) => node.append(i % 2 ? make("code", "", part) : part));
}

function verdict(model) {
  const [choices, answer, picked] = ["choices", "answer", "picked"].map((name) => model.get(name));
  if (!model.get("checked")) return ["", "", ""];
  if (picked < 0) return ["", "Choose one first.", ""];
  const stop = /[.!?]$/.test(choices[answer]) ? "" : ".";
  const ran = `${model.get("verb")} ${choices[answer]}${stop} `;
  if (picked === answer) return ["✓ Right:", ` it ran and ${ran}`, model.get("why")];
  return ["✗ Not this time:", ` you chose ${choices[picked]}; running it ${ran}`, model.get("why")];
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

function render({ model, el }) {
  const closing = new AbortController();
  const form = make("form", "course-choice", ""); // a form of its own: radios group within it
  const field = make("fieldset", "", "");
  const legend = make("legend", "", "");
  write(legend, model.get("question"));
  field.append(legend);
  const radios = model.get("choices").map((choice, i) => {
    const label = make("label", "", "");
    const radio = make("input", "", "", { type: "radio", name: "choice", value: i });
    radio.addEventListener("change", () => keep({ picked: i, checked: false }));
    label.append(radio, make("span", "", choice));
    field.append(label);
    return radio;
  });
  const bar = make("div", "course-controls", "");
  const again = make("button", "course-button course-again", "Try again", { type: "button" });
  bar.append(make("button", "course-button course-check", "Check", { type: "submit" }), again);
  const status = make("div", "course-status", "", { role: "status", "aria-live": "polite" });
  form.append(field, bar, status);
  el.append(form);

  const keep = (changes) => {
    model.set(changes);
    try {
      model.save_changes();
    } catch {
      /* reopened without its kernel: the page's own state is enough */
    }
    draw();
  };
  const draw = () => {
    radios.forEach((radio, i) => (radio.checked = i === model.get("picked")));
    const [word, rest, why] = verdict(model);
    status.replaceChildren(make("strong", "", word), rest);
    write(status, why);
    again.style.visibility = model.get("checked") && model.get("picked") >= 0 ? "" : "hidden";
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    keep({ checked: true });
  });
  again.addEventListener("click", () => {
    keep({ picked: -1, checked: false });
    radios[0].focus();
  });
  model.on("change:picked change:checked", draw);
  keepKeys(form, closing.signal);
  draw();
  return () => {
    model.off("change:picked change:checked", draw);
    closing.abort();
  };
}

export default { render };
