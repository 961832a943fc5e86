// Predict: what the next step will show is hidden until one of a few answers is chosen.

import { makeElement } from "../shared/elements.js";
import { findQuestion, joinStack } from "./answers.js";

const MOST_DRAWN = 5; // values of a stack, from its top

/** Return what asks for the next step; its box lies over the part that would show it. */
export function makeQuestion(script, over, moveTo, at) {
  const box = makeElement("div", "stage-question", "", {
    role: "group",
    "aria-label": "Your prediction",
  });
  box.hidden = true;
  over.append(box);
  const score = { right: 0, total: 0 };
  let isOn = false;

  const close = () => {
    box.hidden = true;
  };
  /** Ask about the step after n; return false where there is nothing to be asked. */
  const ask = (n) => {
    const question = isOn && box.hidden ? findQuestion(script, n) : null;
    if (!question || question.answers.length < 2) {
      return false;
    }
    const row = makeElement("div", question.present ? "stage-piles" : "stage-answers", "");
    const verdict = makeElement("p", "stage-verdict", "", { role: "status" });
    fillRow(row, question, (answer) => {
      score.total += 1;
      if (answer === question.right) {
        score.right += 1;
      }
      markAnswers(row, question, answer);
      showVerdict(verdict, question, answer, score, () => {
        close();
        moveTo(n + 1);
      });
    });
    box.replaceChildren(drawHeading(question), row, verdict);
    box.hidden = false;
    box.querySelector("button").focus({ preventScroll: true });
    return true;
  };
  const turn = (on) => {
    isOn = on;
    close();
    over.closest(".course-stage")?.classList.toggle("stage-predicting", on);
    if (on) {
      ask(at());
    }
  };
  return { ask, close, turn };
}

function drawHeading({ heading, instruction }) {
  const paragraph = makeElement("p", "stage-asked", heading);
  if (instruction) {
    paragraph.append(makeElement("b", "stage-short", instruction), "?");
  }
  return paragraph;
}

/** Fill the row of what can be chosen; the stack that is there now stands before it. */
function fillRow(row, { present, answers }, choose) {
  if (present) {
    const now = makeElement("div", "stage-present", "");
    now.append(drawPile(present), makeElement("small", "", "now"));
    now.append(makeElement("span", "stage-unseen", joinStack(present)));
    row.append(now);
  }
  answers.forEach((answer, n) => {
    const button = drawAnswer(answer, n + 1);
    button.addEventListener("click", () => choose(answer));
    row.append(button);
  });
}

function drawAnswer({ words, stack }, number) {
  const button = makeElement("button", "stage-answer", "", { type: "button" });
  button.dataset.words = words;
  if (stack) {
    button.append(drawPile(stack), makeElement("small", "", String(number)));
    button.append(makeElement("span", "stage-unseen", `bottom to top: ${words}`));
  } else {
    button.append(makeElement("span", "", words), makeElement("small", "", ""));
  }
  return button;
}

/** Return a small stack on its floor; all floors are at one height. */
function drawPile(stack) {
  const pile = makeElement("div", "stage-heap", "", { "aria-hidden": "true" });
  const shown = stack.slice(-MOST_DRAWN).reverse();
  for (const words of shown) {
    const chip = makeElement("div", "stage-chip", words);
    chip.classList.toggle("stage-null", words === "NULL");
    chip.title = words;
    pile.append(chip);
  }
  if (stack.length > shown.length) {
    pile.append(makeElement("small", "", `+ ${stack.length - shown.length} below`));
  }
  return pile;
}

/** Mark the right answer and, if it is another one, what was chosen. */
function markAnswers(row, { answers, right }, chosen) {
  for (const button of row.querySelectorAll("button")) {
    const answer = answers.find(({ words }) => words === button.dataset.words);
    const isRight = answer === right;
    const note = button.querySelector("small");
    button.disabled = true;
    button.classList.toggle("is-right", isRight);
    button.classList.toggle("is-wrong", answer === chosen && !isRight);
    if (isRight && chosen === right) {
      note.textContent = answer.why ? `✓ right: ${answer.why}` : "✓ right";
    } else if (isRight) {
      note.textContent = "✓ this one";
    } else if (answer === chosen) {
      note.textContent = `✗ yours: ${answer.why}`;
    }
  }
}

function showVerdict(verdict, { right }, chosen, score, goOn) {
  const next = makeElement("button", "stage-button stage-go", "See it", { type: "button" });
  next.addEventListener("click", goOn);
  const mistake = chosen === right ? "" : `Not this one: ${chosen.why}. `;
  verdict.replaceChildren(
    makeElement("span", "stage-unseen", mistake),
    `${score.right} of ${score.total} predicted. `,
    next,
  );
  next.focus({ preventScroll: true });
}
