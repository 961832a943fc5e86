// "To next change of …": a name, or the output.

import { makeElement, setEnabled } from "../shared/elements.js";
import { findNextChange, OUTPUT } from "./steps.js";

/**
 * Add a button that goes to where a variable has just changed, or output was printed.
 *
 * `changes`: key of a part of the picture -> the name that changes where it comes or goes.
 */
export function addChangeRunner(script, go, box, changes) {
  const names = new Set([...script.codes.flatMap((code) => code.names), ...changes.values()]);
  const choices = [...names, ...(script.printed ? [OUTPUT] : [])];
  if (!choices.length) {
    return null;
  }
  const findNext = (at, name) => findNextChange(script, name, at, changes);
  const group = makeElement("span", "stage-run", "");
  const button = makeElement("button", "stage-button", "To next change of", { type: "button" });
  const select = makeElement("select", "stage-select", "", {
    "aria-label": "Name to run to the next change of",
  });
  for (const choice of choices) {
    const text = choice.replace(" (cell)", "");
    select.append(makeElement("option", "", text, { value: choice }));
  }
  select.value = choices.find((choice) => findNext(0, choice) > 0) ?? choices[0];
  group.append(button, select);
  box.append(group);

  let current = 0;
  const show = (n) => {
    current = n;
    const isThere = findNext(n, select.value) >= 0;
    setEnabled(button, isThere);
    button.title = isThere ? "" : `${select.value} does not change after this step`;
  };
  button.addEventListener("click", () => go((at) => Math.max(at, findNext(at, select.value))));
  select.addEventListener("change", () => show(current));
  return { show };
}
