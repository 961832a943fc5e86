// Widgets of a page -> alive without a kernel. Each is an anywidget: the host gives it the model and
// the element that Jupyter would, over the state that was stored. What a kernel would be asked was
// asked when the book was made; the record of it answers.

const scripts = JSON.parse(document.getElementById("book-scripts").textContent);
const modules = new Map(); // number of a script -> its module, which is loaded once

/** From an address of its own, because a page that was opened as a file may import no other file. */
function load(number) {
  if (!modules.has(number)) {
    const script = new Blob([scripts[number]], { type: "text/javascript" });
    modules.set(number, import(URL.createObjectURL(script)));
  }
  return modules.get(number);
}

/** The part of Jupyter's model that a widget may use. `answer(message)` gives changes of the state. */
function makeModel(state, answer) {
  const heard = new Map(); // "change:name" -> functions
  const names = (words) => words.split(" ").filter(Boolean);
  const tell = (event) => [...(heard.get(event) ?? [])].forEach((hear) => hear());
  const model = {
    get: (name) => state[name],
    set(name, value) {
      const given = typeof name === "string" ? { [name]: value } : name;
      const changed = Object.keys(given).filter((key) => state[key] !== given[key]);
      Object.assign(state, given);
      changed.forEach((key) => tell(`change:${key}`));
      if (changed.length) tell("change");
    },
    save_changes() {
      const changes = answer(null, state);
      if (changes) model.set(changes);
      document.dispatchEvent(new CustomEvent("book-saved", { detail: state }));
    },
    on(words, hear) {
      for (const event of names(words)) heard.set(event, [...(heard.get(event) ?? []), hear]);
    },
    off(words, hear) {
      for (const event of names(words))
        heard.set(event, (heard.get(event) ?? []).filter((one) => one !== hear));
    },
    send: (message) => setTimeout(() => model.set(answer(message, state) ?? {})),
  };
  return model;
}

/** A sandbox: the call that is picked, and what came of it. */
function sandboxAnswers(runs) {
  const tries = [];
  return (message, { picked, controls }) => {
    const matters = ([, , of, values]) => !of || values.includes(picked[of]);
    const run = runs[controls.filter(matters).map(([name]) => picked[name]).join("|")];
    if (!message) return { call: run.call };
    tries.push(message.guess === run.verdict);
    const words = { guess: message.guess, right: tries.filter(Boolean).length, tries: tries.length };
    const says = run.says.replace(/\{(guess|right|tries)\}/g, (_, name) => words[name]);
    const asked = { of: message.picked, call: run.call, press: message.press };
    return { answer: { says, right: tries.at(-1), rows: run.rows, ...asked } };
  };
}

/** Programs that ran once each, as `sources` has them now; lines that are changed later were not run. */
function programAnswers({ runs, unknown }, { labels, sources }) {
  let number = 0;
  return (message) => {
    if (!message) return null;
    const asWritten = sources[labels.indexOf(message.label)] === message.source;
    const answer = asWritten ? runs[message.label] : { says: unknown, shown: "" };
    return { answer: { ...answer, number: ++number } };
  };
}

function answers(record, state) {
  if (!record) return () => null;
  return record.unknown ? programAnswers(record, state) : sandboxAnswers(record.runs);
}

async function enliven(place) {
  const { script, classes, state, recorded } = JSON.parse(place.querySelector("script").textContent);
  const widget = (await load(script)).default;
  const el = document.createElement("div");
  el.className = classes.join(" ");
  state.keeps = false; // what is decided here stays in the page
  const model = makeModel(state, answers(recorded, state));
  await widget.initialize?.({ model });
  const still = place.querySelector(".book-still");
  still.replaceWith(el);
  try {
    await widget.render({ model, el });
    if (!el.querySelector(".course-stage")) return;
    still.className = "book-paper"; // on paper some of its steps are shown
    el.after(still);
  } catch (error) {
    el.replaceWith(still); // which tells the same without steps
    throw error;
  }
}

Promise.allSettled([...document.querySelectorAll(".book-live")].map(enliven)).then((ends) => {
  document.documentElement.classList.add("book-lives");
  document.dispatchEvent(new Event("book-lives"));
  const at = location.hash.slice(1); // an id as it is written, or as the browser has quoted it
  [at, decodeURIComponent(at)].map((id) => document.getElementById(id)).find(Boolean)?.scrollIntoView();
  for (const { reason } of ends) if (reason) console.error(reason);
});
