// A key to the signs that this very stage uses, behind a small button.

import { makeElement } from "../shared/elements.js";
import { canRule, findRaises, NEW_LINE, RAISE_SIGN } from "./lanes.js";
import { NULL_MEANS } from "./value_words.js";

const TITLE = "Key to the signs";

/** Return the button, and the list that it opens and closes. */
export function makeLegend(script) {
  const list = makeElement("dl", "stage-key", "");
  list.hidden = true;
  for (const { sign, meaning } of listSigns(script)) {
    list.append(makeElement("dt", "", sign), makeElement("dd", "", meaning));
  }
  const button = makeElement("button", "stage-button stage-key-button", "?", {
    type: "button",
    "aria-expanded": "false",
    "aria-label": TITLE,
  });
  button.title = TITLE;
  button.addEventListener("click", () => {
    list.hidden = !list.hidden;
    button.setAttribute("aria-expanded", String(!list.hidden));
  });
  return { button, list };
}

/** Return the signs that this script has something for, each with its meaning. */
function listSigns(script) {
  const { tracks, codes, lines } = script;
  const isMachine = codes.length > 0;
  const hasStack = tracks.some((track) => track.stack);
  const hasJump = codes.some((code) => code.rows.some((row) => row.to >= 0));
  const hasCell = codes.some((code) => code.names.some((name) => name.endsWith(" (cell)")));
  const signs = [
    {
      sign: "amber",
      meaning: "now: what runs next, and what it touches",
      isUsed: true,
    },
    {
      sign: "1 underlined",
      meaning: "a line of the source that runs: click its number to go there",
      isUsed: lines.length > 0,
    },
    {
      sign: NEW_LINE,
      meaning:
        "in the strip of all steps: another source line begins, in this call or in another one",
      isUsed: canRule(script),
    },
    {
      sign: "↩ ✕",
      meaning: "the line that was just left, and how; ▶ is the one that runs next",
      isUsed: tracks.some((track) => track.left),
    },
    {
      sign: RAISE_SIGN,
      meaning: "in the strip of all steps: this step raises an exception",
      isUsed: findRaises(script).length > 0,
    },
    {
      sign: "grey instruction",
      meaning: "not run in any step here",
      isUsed: isMachine,
    },
    {
      sign: "dashed at the right",
      meaning: "just popped",
      isUsed: hasStack && isMachine,
    },
    {
      sign: "+",
      meaning: "on a value of the stack: the next result goes here, once the value is popped",
      isUsed: hasStack,
    },
    {
      sign: "NULL",
      meaning: NULL_MEANS.slice("NULL: ".length),
      isUsed: hasStack && isMachine,
    },
    {
      sign: "arc",
      meaning: "a jump: thick if it is taken next, dashed if not",
      isUsed: hasJump,
    },
    {
      sign: "pill",
      meaning: "a shared cell: inner functions use this variable too",
      isUsed: hasCell,
    },
  ];
  return signs.filter(({ isUsed }) => isUsed);
}
