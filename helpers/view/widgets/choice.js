// A question that keeps its answer back until the learner has decided. All of it runs in the page.
// State: question, choices, answer (index), verb, why, picked (index or -1), checked, skipped. Where a kernel
// records what is decided: keeps (true), press (a name of the last decision) and, from the kernel, told
// ({press, why}: it has recorded that decision, or why it has not).

const PATIENCE = 8000; // milliseconds
const LATE =
  "Your choice is not recorded yet: a busy kernel records it later, and after a restart this cell must run again.";
const GONE =
  "because no kernel knows this question any more. To record it, run this cell again, after those that it needs.";
const NOT_RECORDED = { late: LATE, gone: `Your choice is not recorded, ${GONE}` };
// A page that was saved before the kernel answered, and opened again.
const UNKNOWN = { late: LATE, gone: `It is not known whether your choice was recorded, ${GONE}` };
// Question -> the choice that is not recorded; the widget of the cell's next run hands it on.
const unrecorded = (globalThis[Symbol.for("course.unrecorded")] ??= new Map());
let presses = 0;

/** Append words to a node; what stands between `backticks` becomes code. */
function write(node, words) {
  const parts = words.split("`");
  if (parts.length % 2 === 0) return void node.append(words); // one without its partner
  parts.forEach((part, i) => node.append(i % 2 ? make("code", "", part) : part));
}

function verdict(model) {
  const [choices, answer, picked] = ["choices", "answer", "picked"].map((name) => model.get(name));
  const stop = /[.!?]$/.test(choices[answer]) ? "" : ".";
  const ran = `${model.get("verb")} ${choices[answer]}${stop} `;
  if (model.get("skipped")) return ["Skipped:", ` it ran and ${ran}`, model.get("why")];
  if (!model.get("checked")) return ["", "", ""];
  if (picked < 0) return ["", "Choose one first, or skip the question.", ""];
  if (picked === answer) return ["✓ Right:", ` it ran and ${ran}`, model.get("why")];
  return ["✗ Not this time:", ` you chose ${choices[picked]}; running it ${ran}`, model.get("why")];
}

/** Say beside each option what it turned out to be: a mark, words, an outline; colour repeats it. */
function mark(labels, answer, picked) {
  labels.forEach((label, i) => {
    const [right, chosen] = [i === answer, i === picked];
    const words = right ? (chosen ? "✓ your choice, and right" : "✓ right") : "✗ your choice";
    label.classList.toggle("course-right", picked >= 0 && right);
    label.classList.toggle("course-wrong", picked >= 0 && chosen && !right);
    label.querySelector(".course-verdict").textContent =
      picked >= 0 && (right || chosen) ? words : "";
  });
}

/** Open what waits for a decision in the cells below, up to the next question or heading. */
function openWhatWaits(el) {
  let cell = el.closest(".jp-Cell, .book-cell")?.nextElementSibling;
  for (; cell && !cell.querySelector(".course-choice, h1, h2, h3"); cell = cell.nextElementSibling) {
    cell.querySelector(".jp-InputPlaceholder")?.click(); // code that JupyterLab shows folded
    for (const held of cell.querySelectorAll(".course-held")) {
      held.open = true;
      held.querySelector("summary").style.display = "none";
    }
  }
}

/** Whether the page was left before the kernel answered the last decision. */
function wasLeft(model) {
  const press = model.get("press");
  return model.get("checked") && press && press !== model.get("told").press;
}

function render({ model, el }) {
  const closing = new AbortController();
  const form = make("form", "course-form course-choice", ""); // a form of its own: radios group within it
  const field = make("fieldset", "", "");
  const legend = make("legend", "", "");
  write(legend, model.get("question"));
  field.append(legend);
  const radios = model.get("choices").map((choice, i) => {
    const label = make("label", "", "");
    const radio = make("input", "", "", { type: "radio", name: "choice", value: i });
    radio.addEventListener("change", () => keep({ picked: i, checked: false, skipped: false }));
    label.append(radio, make("span", "", choice), make("span", "course-verdict", ""));
    field.append(label);
    return radio;
  });
  const bar = make("div", "course-controls", "");
  const again = make("button", "course-button course-again", "Try again", { type: "button" });
  const skip = make("button", "course-button course-skip", "Skip", { type: "button" });
  const check = make("button", "course-button course-check", "Check", { type: "submit" });
  bar.append(check, skip, again);
  const status = makeStatus();
  form.append(field, bar, status);
  el.append(form);

  const keep = (changes) => {
    model.set(changes);
    save(model);
    draw();
  };
  const [question, choices] = [model.get("question"), model.get("choices")];
  let [missing, heard] = ["", () => {}]; // what is said of a choice that is not recorded
  const say = (words) => {
    missing = words;
    draw();
  };
  /** Have the kernel record the choice. What it answers comes to `hear`. */
  const record = (said, words) => {
    heard();
    missing = "";
    unrecorded.set(question, choices[said]);
    const press = `${Date.now()}-${++presses}`;
    keep({ picked: said, checked: true, skipped: false, press });
    heard = request(model, { said, press }, PATIENCE, (how) => say(words[how]));
  };
  const hear = () => {
    const { press, why } = model.get("told");
    if (!press || press !== model.get("press")) return; // of an earlier choice
    heard();
    if (!why) unrecorded.delete(question);
    say(why);
  };
  const draw = () => {
    radios.forEach((radio, i) => (radio.checked = i === model.get("picked")));
    const labels = radios.map((radio) => radio.parentElement);
    mark(labels, model.get("answer"), model.get("checked") ? model.get("picked") : -1);
    const [word, rest, why] = verdict(model);
    status.replaceChildren(make("strong", "", word), rest);
    write(status, why);
    if (missing) status.append(make("div", "course-missing", missing));
    const decided = model.get("checked") && model.get("picked") >= 0;
    again.style.visibility = decided ? "" : "hidden";
    if (decided && check.matches(":focus")) radios[model.get("picked")].focus({ preventScroll: true });
    check.style.display = decided ? "none" : "";
    skip.style.display = decided || model.get("skipped") ? "none" : "";
    if (decided || model.get("skipped")) openWhatWaits(el);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const decides = !model.get("checked") && model.get("picked") >= 0;
    if (decides && model.get("keeps")) record(model.get("picked"), NOT_RECORDED);
    else keep({ checked: true });
  });
  skip.addEventListener("click", () => keep({ skipped: true }));
  again.addEventListener("click", () => {
    keep({ picked: -1, checked: false });
    radios[0].focus();
  });
  model.on("change:picked change:checked change:skipped", draw);
  model.on("change:told", hear);
  keepKeys(form, closing.signal);
  lightWords();
  draw();
  hear();
  const before = choices.indexOf(unrecorded.get(question)); // in an earlier run of this cell
  if (model.get("keeps") && before >= 0) record(before, NOT_RECORDED);
  else if (model.get("keeps") && wasLeft(model)) record(model.get("picked"), UNKNOWN);
  return () => {
    model.off("change:picked change:checked change:skipped", draw);
    model.off("change:told", hear);
    heard();
    closing.abort();
  };
}

export default { render };
