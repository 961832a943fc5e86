// Pick a call, foretell it, run it in the kernel, and see the truth.
// State: title, note, ask, verdicts, picked (name -> option),
// controls ([name, options, of, matters]),
// call (code, from the kernel), answer ({says, right, rows}, from the kernel; or {says, stopped};
// with them what was asked: `of`, the choices, `call`, their code, and `press`, a name of its own).

const PATIENCE = 8000; // milliseconds; a first trace takes well under one of them
const MADE = "a new sandbox";

function select(name, options, picked, onPick) {
  const label = make("label", "", "");
  const box = make("select", "", "");
  options.forEach((option) => box.append(make("option", "", option, { value: option })));
  box.value = picked;
  box.addEventListener("change", () => onPick(name, box.value));
  label.append(make("span", "", name), box);
  return [label, box];
}

function radios(ask, verdicts) {
  const field = make("fieldset", "course-guess", "");
  field.append(make("legend", "", ask));
  const buttons = verdicts.map((verdict) => {
    const label = make("label", "", "");
    const radio = make("input", "", "", { type: "radio", name: "guess", value: verdict });
    label.append(radio, make("span", "", verdict));
    field.append(label);
    return radio;
  });
  return [field, buttons];
}

/** Write a call; what is not as in the call `before` it is marked. */
function writeCall(code, call, before) {
  const [parts, old] = [call, before ?? ""].map((words) => words.split(/([\w.'"]+)/));
  const alike = parts.length === old.length;
  code.replaceChildren(...parts.map((part, i) => (alike && part !== old[i] ? make("mark", "", part) : part)));
}

const rowsOf = (table) => [...table.querySelectorAll("tbody tr")];

function render({ model, el }) {
  const closing = new AbortController();
  const form = make("form", "course-form course-sandbox", "");
  const call = make("fieldset", "course-call", "");
  call.append(make("legend", "", model.get("title")), make("p", "", model.get("note")));
  const boxes = new Map();
  const pick = (name, option) => {
    model.set("picked", { ...model.get("picked"), [name]: option });
    save(model);
    guesses.forEach((radio) => (radio.checked = false));
    status.replaceChildren();
    status.dataset.is = "";
    draw();
    place();
    isKnown(model).then((known) => {
      if (known) return;
      model.set("call", ""); // what is there is the code of another choice
      status.replaceChildren(isGone(MADE));
    });
  };
  for (const [name, options] of model.get("controls")) {
    const [label, box] = select(name, options, model.get("picked")[name], pick);
    boxes.set(name, box);
    call.append(label);
  }
  const code = make("code", "course-code", "");
  const [field, guesses] = radios(model.get("ask"), model.get("verdicts"));
  const bar = make("div", "course-controls", "");
  bar.append(make("button", "course-button", "Run the call", { type: "submit" }));
  const status = makeStatus();
  const before = make("div", "", "");
  const runs = make("div", "course-runs", "");
  const [rows, past] = [make("div", "course-rows", ""), make("div", "course-past", "")];
  runs.append(rows, past);
  form.append(call, code, field, bar, status, before, runs);
  el.append(form);

  const [ask, heard] = asker(model, status, PATIENCE, MADE);
  const counts = (of, matters) => of === "" || matters.includes(model.get("picked")[of]);
  const ran = []; // the calls that ran, the last one last
  const draw = () => {
    const picked = model.get("picked");
    for (const [name, , of, matters] of model.get("controls")) {
      boxes.get(name).value = picked[name];
      boxes.get(name).disabled = !counts(of, matters);
    }
    const { of, call } = model.get("answer");
    const own = of && asOnShow(of) && call === model.get("call");
    writeCall(code, model.get("call"), ran.at(own ? -2 : -1));
  };
  const asOnShow = (choices) =>
    model.get("controls").every(
      ([name, , of, matters]) => !counts(of, matters) || choices[name] === model.get("picked")[name],
    );
  const place = () => { // an answer is the status of its own choices alone
    const answer = model.get("answer");
    if (!answer.says) return;
    const mark = answer.right ? "✓ Right:" : "✗ Not this time:";
    const says = [...(answer.stopped ? [] : [make("strong", "", mark), " "]), answer.says];
    const own = !answer.of || asOnShow(answer.of);
    status.replaceChildren(...(own ? says : []));
    status.dataset.is = !own || answer.stopped ? "" : answer.right ? "right" : "wrong";
    before.replaceChildren();
    if (own) return;
    const last = make("p", "", "");
    last.append(...says);
    before.append(make("p", "", "The last run was of"), make("code", "course-code", answer.call), last);
  };
  let asked = "", press = "", presses = 0; // what is pressed again before it was answered counts once
  const tell = () => {
    const answer = model.get("answer");
    if (!answer.says) return;
    heard();
    asked = "";
    place();
    const [old, last] = [rowsOf(rows), ran.at(-1)];
    if (rows.hasChildNodes()) past.replaceChildren(make("p", "", "The run before: "), ...rows.childNodes);
    past.firstChild?.append(make("code", "", last ?? ""));
    rows.innerHTML = answer.rows; // a ledger of the kernel's, escaped there
    const now = rowsOf(rows).map((row) => row.textContent);
    if (old.length && old.every((row) => now.includes(row.textContent))) past.replaceChildren(); // all is in the new table
    old.forEach((row) => row.classList.remove("course-fresh"));
    rowsOf(rows).at(-1)?.classList.add("course-fresh"); // this call
    rows.querySelectorAll("details").forEach((more) => (more.open = true));
    ran.push(answer.call);
    draw();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const guess = guesses.find((radio) => radio.checked);
    if (!guess) return void status.replaceChildren("Predict first: hit, trace or error?");
    const question = { guess: guess.value, picked: model.get("picked") };
    if (asked !== JSON.stringify(question)) press = `${Date.now()}-${++presses}`;
    asked = JSON.stringify(question);
    ask({ ...question, press });
  });
  model.on("change:picked change:call", draw);
  model.on("change:answer", tell);
  keepKeys(form, closing.signal);
  draw();
  tell();
  return () => {
    model.off("change:picked change:call", draw);
    model.off("change:answer", tell);
    heard();
    closing.abort();
  };
}

export default { render };
