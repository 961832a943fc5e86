// Buttons that make a picture larger and smaller.

import { makeElement } from "../shared/elements.js";

const LIMITS = { least: 0.3, most: 3 }; // times the picture's natural width
const BUTTONS = [
  { sign: "−", label: "Smaller", factor: 0.8 },
  { sign: "+", label: "Larger", factor: 1.25 },
];

/** Return buttons that change a picture's width, and one that fits it to its window again. */
export function makeZoomBar(drawing, leastWidth) {
  const bar = makeElement("div", "course-picture-zoom", "", {
    role: "group",
    "aria-label": "Zoom",
  });
  for (const { sign, label, factor } of BUTTONS) {
    addButton(bar, sign, label, () => resize(drawing, factor));
  }
  addButton(bar, "Fit", "Reset", () => fit(drawing, leastWidth));
  return bar;
}

function addButton(bar, sign, label, act) {
  const button = makeElement("button", "course-button", sign, {
    type: "button",
    "aria-label": label,
  });
  button.addEventListener("click", act);
  bar.append(button);
}

function resize(drawing, factor) {
  const natural = drawing.viewBox.baseVal.width;
  const wanted = drawing.getBoundingClientRect().width * factor;
  const width = Math.max(LIMITS.least * natural, Math.min(LIMITS.most * natural, wanted));
  Object.assign(drawing.style, {
    maxWidth: "none",
    width: `${Math.round(width)}px`,
    minWidth: "0",
  });
}

function fit(drawing, leastWidth) {
  Object.assign(drawing.style, { maxWidth: "", width: "", minWidth: `${leastWidth}px` });
}
