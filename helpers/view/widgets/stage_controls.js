// Buttons, the step's number, search, "run to the next change of …", and the keys.

const PACE = 900; // milliseconds a step is shown while playing

function makeControls(script, go, ask, drawn = new Map(), remark = () => {}) {
  const { total } = script;
  const box = make("div", "stage-controls", "");
  const button = (words, step, kind = "") => {
    const node = make("button", `stage-button ${kind}`, words, { type: "button" });
    node.addEventListener("click", () => go(step));
    box.append(node);
    return node;
  };
  const first = button("First", () => 0);
  const back = button("Back", (i) => i - 1);
  const next = button("Next", (i) => i + 1, "stage-go");
  const last = button("Last", () => total - 1);
  const play = player(button, go, total);
  const number = make("input", "stage-number-of", "", { type: "number", min: 1, max: total, "aria-label": "Go to step" });
  let at = 1;
  number.addEventListener("change", () => {
    const [typed, asked] = [number.value, number.valueAsNumber];
    const step = Number.isNaN(asked) ? at : Math.max(1, Math.min(total, Math.round(asked)));
    go(() => step - 1);
    number.value = at;
    if (step !== asked) remark(`${Number.isNaN(asked) ? "That is no number" : `There is no step ${typed.slice(0, 12)}`}: this is step ${at} of ${total}.`);
  });
  const of = make("label", "stage-of", "step ");
  of.append(number, ` of ${total}`);
  box.append(of, make("span", "stage-gap", ""));
  if (total > 5) finder(script, go, box);
  const change = changeRunner(script, go, box, drawn);
  const predict = ask ? toggle(box, "Predict", ask) : null;
  const show = (n) => {
    number.value = at = n + 1;
    // aria-disabled, not disabled: a disabled button would drop the keyboard's focus
    for (const node of [first, back]) node.setAttribute("aria-disabled", String(n === 0));
    for (const node of [next, last]) node.setAttribute("aria-disabled", String(n === total - 1));
    change?.show(n);
  };
  return { box, show, stop: play.stop, predict };
}

/** A button that goes on by itself, until it is pressed again or the last step is reached. */
function player(button, go, total) {
  if (total < 3) return { stop: () => {} };
  let timer = 0;
  const node = button("Play", (i) => (timer ? i : i === total - 1 ? 0 : i + 1), "stage-play");
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    node.textContent = "Play";
  };
  node.addEventListener("click", () => {
    if (timer) return stop();
    node.textContent = "Pause";
    timer = setInterval(() => go((i) => (i >= total - 2 && stop(), i + 1)), PACE);
  });
  return { stop };
}

function toggle(box, words, use) {
  const node = make("button", "stage-button", words, { type: "button", "aria-pressed": "false" });
  node.title = "Say what comes next before you see it";
  node.addEventListener("click", () => {
    const on = node.getAttribute("aria-pressed") !== "true";
    node.setAttribute("aria-pressed", String(on));
    use(on);
  });
  box.append(node);
  return node;
}

/** Search the steps after this one, and then from the start, for a name, an opcode or a value. */
function finder(script, go, box) {
  const input = make("input", "stage-find", "", { type: "search", placeholder: "find …", "aria-label": "Find a step with these words" });
  const words = (n) => {
    const step = script.step(n);
    const values = (step.stack ?? []).map((value) => value.words);
    return `${step.label} ${step.says} ${values.join(" ")}`.toLowerCase();
  };
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !input.value.trim()) return;
    const asked = input.value.trim().toLowerCase();
    go((at) => {
      for (let i = 1; i <= script.total; i++) if (words((at + i) % script.total).includes(asked)) return (at + i) % script.total;
      input.setAttribute("aria-invalid", "true");
      return at;
    });
  });
  input.addEventListener("input", () => input.removeAttribute("aria-invalid"));
  box.append(input);

}

/** Go to where a variable has just changed, or output was printed. `drawn`: part of the picture -> name. */
function changeRunner(script, go, box, drawn) {
  const names = [...new Set([...script.codes.flatMap((code) => code.names), ...drawn.values()])];
  const choices = [...names, ...(script.printed ? ["the output"] : [])];
  if (!choices.length) return null;
  const changed = (n, choice) => {
    if (!n) return false;
    if (choice === "the output") return script.step(n).printed !== script.step(n - 1).printed;
    const there = script.step(n).picture;
    for (const [key, name] of drawn) if (name === choice && (there[key] === "new" || there[key] === "ghost")) return true;
    const [now, before] = [script.step(n), script.before(n)];
    const slot = now.code?.names.indexOf(choice) ?? -1;
    return slot >= 0 && !!now.locals && now.locals[slot]?.words !== before?.locals?.[slot]?.words && !!before;
  };
  const next = (at, choice) => {
    for (let n = at + 1; n < script.total; n++) if (changed(n, choice)) return n;
    return -1;
  };
  const group = make("span", "stage-run", "");
  const button = make("button", "stage-button", "To next change of", { type: "button" });
  const select = make("select", "stage-select", "", { "aria-label": "Name to run to the next change of" });
  for (const choice of choices) select.append(make("option", "", choice.replace(" (cell)", ""), { value: choice }));
  const start = choices.find((choice) => next(0, choice) > 0);
  select.value = start ?? choices[0];
  let at = 0;
  const show = (n) => {
    at = n;
    const none = next(n, select.value) < 0;
    button.setAttribute("aria-disabled", String(none));
    button.title = none ? `${select.value} does not change after this step` : "";
  };
  button.addEventListener("click", () => go((i) => Math.max(i, next(i, select.value))));
  select.addEventListener("change", () => show(at));
  group.append(button, select);
  box.append(group);
  return { show };
}

const KEYS = {
  ArrowLeft: (i) => i - 1, ArrowUp: (i) => i - 1, PageUp: (i) => i - 1,
  ArrowRight: (i) => i + 1, ArrowDown: (i) => i + 1, PageDown: (i) => i + 1,
  Home: () => 0, End: () => Infinity,
};
// On a slider up is more; elsewhere it is what stands above, which came before.
const ON_SLIDER = { ...KEYS, ArrowUp: KEYS.ArrowDown, ArrowDown: KEYS.ArrowUp, PageUp: KEYS.PageDown, PageDown: KEYS.PageUp };

/** Keys inside `root` are ours; JupyterLab would move between cells, so we listen before it. */
function listen(root, go, signal) {
  const onKey = (event) => {
    if (!root.contains(event.target)) return;
    if (event.target.closest("input")) return; // JupyterLab leaves alone what is written in
    if (event.target.closest("select")) return event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const move = (event.target.closest(".course-slider") ? ON_SLIDER : KEYS)[event.key];
    if (!move && event.key !== "Enter" && event.key !== " ") return;
    event.stopPropagation();
    if (!move || (event.target.closest(".course-scrolls") && event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return;
    event.preventDefault();
    go(move);
  };
  window.addEventListener("keydown", onKey, { capture: true, signal });
}
