// What the program has printed so far.

import { makeElement } from "../shared/elements.js";
import { makePane, makeScroll } from "./panes.js";

const MOST_LINES = 4; // of more the box scrolls
const LINE_HEIGHT = 19; // pixels
const EDGES = 10; // pixels
const TITLE = "Printed so far";

/** Return the pane of the output, in which what is new is underlined. */
export function makePrintedPane(script) {
  const pane = makePane("printed", TITLE);
  const lines = Math.min(MOST_LINES, script.printed.trimEnd().split("\n").length);
  const output = makeElement("pre", "stage-output", "", {
    style: `height:${LINE_HEIGHT * lines + EDGES}px`,
  });
  makeScroll(output, TITLE);
  pane.body.append(output);

  const show = ({ now, before }) => {
    const old = before?.printed ?? "";
    const oldLength = now.printed.startsWith(old) ? old.length : now.printed.length;
    const fresh = now.printed.slice(oldLength);
    output.replaceChildren(now.printed.slice(0, oldLength));
    if (fresh) {
      output.append(makeElement("mark", "", fresh));
    }
    if (!now.printed) {
      output.append(makeElement("span", "stage-none", "nothing yet"));
    }
    output.scrollTop = output.scrollHeight;
    pane.aside.textContent = fresh ? "new: underlined" : "";
  };
  return { box: pane.box, show };
}
