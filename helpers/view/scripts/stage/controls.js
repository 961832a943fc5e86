// Buttons, the step's number, and search.

import { makeElement, setEnabled } from "../shared/elements.js";
import { addChangeRunner } from "./change_runner.js";
import { clampStep, findText } from "./steps.js";

const PACE = 900; // milliseconds that a step is shown while playing
const LEAST_TO_PLAY = 3; // steps
const LEAST_TO_SEARCH = 6; // steps

/**
 * Return the controls of a stage; `go(choose)` goes to the step `choose(at)`.
 *
 * `turnPredictions(on)` is there where the stage has questions, `changes` (key of a part -> name)
 * where it has a picture, and `remark(text)` says something beside the step.
 */
export function makeControls(script, go, turnPredictions, changes = new Map(), remark = () => {}) {
  const { total } = script;
  const box = makeElement("div", "stage-controls", "");
  const add = (text, choose, className = "") => addButton(box, text, className, () => go(choose));
  const first = add("First", () => 0);
  const back = add("Back", (at) => at - 1);
  const next = add("Next", (at) => at + 1, "stage-go");
  const last = add("Last", () => total - 1);
  const player = total >= LEAST_TO_PLAY ? addPlayer(box, go, total) : null;
  const number = addNumber(box, go, total, remark);
  box.append(makeElement("span", "stage-gap", ""));
  if (total >= LEAST_TO_SEARCH) {
    addFinder(box, script, go);
  }
  const changeRunner = addChangeRunner(script, go, box, changes);
  if (turnPredictions) {
    addToggle(box, "Predict", turnPredictions);
  }

  const show = (n) => {
    number.show(n);
    for (const button of [first, back]) {
      setEnabled(button, n > 0);
    }
    for (const button of [next, last]) {
      setEnabled(button, n < total - 1);
    }
    changeRunner?.show(n);
  };
  return { box, show, stop: () => player?.stop() };
}

function addButton(box, text, className, act) {
  const button = makeElement("button", `stage-button ${className}`, text, { type: "button" });
  button.addEventListener("click", act);
  box.append(button);
  return button;
}

/** Add a button that goes on by itself, until it is pressed again or the last step is reached. */
function addPlayer(box, go, total) {
  let timer = 0;
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    button.textContent = "Play";
  };
  const playNext = (at) => {
    if (at >= total - 2) {
      stop();
    }
    return at + 1;
  };
  const start = () => {
    go((at) => (at === total - 1 ? 0 : at + 1));
    button.textContent = "Pause";
    timer = setInterval(() => go(playNext), PACE);
  };
  const turn = () => (timer ? stop() : start());
  const button = addButton(box, "Play", "stage-play", turn);
  return { stop };
}

/** Add a field with the step's number, in which another one can be typed. */
function addNumber(box, go, total, remark) {
  const input = makeElement("input", "stage-number-of", "", {
    type: "number",
    min: 1,
    max: total,
    "aria-label": "Go to step",
  });
  const label = makeElement("label", "stage-of", "step ");
  label.append(input, ` of ${total}`);
  box.append(label);
  let current = 1;
  const show = (n) => {
    current = n + 1;
    input.value = current;
  };
  input.addEventListener("change", () => {
    const text = input.value;
    const typed = input.valueAsNumber;
    const step = clampStep(typed, current, total);
    go(() => step - 1);
    input.value = current;
    if (step !== typed) {
      const isNumber = !Number.isNaN(typed);
      const problem = isNumber ? `There is no step ${text.slice(0, 12)}` : "That is no number";
      remark(`${problem}: this is step ${current} of ${total}.`);
    }
  });
  return { show };
}

function addToggle(box, text, turn) {
  const button = makeElement("button", "stage-button", text, {
    type: "button",
    "aria-pressed": "false",
  });
  button.title = "Say what comes next before you see it";
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    turn(on);
  });
  box.append(button);
}

/** Add a field that searches all steps for a name, an opcode or a value. */
function addFinder(box, script, go) {
  const input = makeElement("input", "stage-find", "", {
    type: "search",
    placeholder: "find …",
    "aria-label": "Find a step with these words",
  });
  input.addEventListener("keydown", (event) => {
    const text = input.value.trim();
    if (event.key !== "Enter" || !text) {
      return;
    }
    go((at) => {
      const found = findText(script, text, at);
      if (found < 0) {
        input.setAttribute("aria-invalid", "true");
        return at;
      }
      return found;
    });
  });
  input.addEventListener("input", () => input.removeAttribute("aria-invalid"));
  box.append(input);
}
