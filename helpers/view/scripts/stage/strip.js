// All steps at once: a strip with a lane per kind of step; click or drag to go there.

import { makeElement, makeSvgElement } from "../shared/elements.js";
import { colourLane, findNewLines, findRaises, NEW_LINE, RAISE_SIGN } from "./lanes.js";
import { layOutStrip, measureStrip } from "./strip_layout.js";

const LEAST_CURSOR = 7; // pixels

/** Return the strip; `show(n, text)` moves its cursor to step n, which the text describes. */
export function makeStrip(script, go) {
  const { lanes, total } = script;
  const newLines = findNewLines(script);
  const raises = findRaises(script);
  const extraLanes = [newLines, raises].filter((steps) => steps.length).length;
  const height = measureStrip(lanes.length + extraLanes);
  const box = makeElement("div", "stage-strip-row", "", { style: `height:${height}px` });
  const slider = makeElement("div", "course-slider", "", {
    role: "slider",
    tabindex: "0",
    "aria-label": "Step",
    "aria-valuemin": 1,
    "aria-valuemax": total,
  });
  const cursor = makeElement("div", "stage-cursor", "", {
    style: `width:max(${LEAST_CURSOR}px, ${100 / total}%)`,
  });
  slider.append(cursor, drawSteps(script, newLines, height));
  slider.append(...raises.map((n) => drawRaise(n, total)));
  box.append(drawLabels(lanes, newLines, raises), slider);
  letDrag(slider, total, go);

  const show = (n, text) => {
    cursor.style.left = `min(${(100 * n) / total}%, 100% - ${LEAST_CURSOR}px)`;
    slider.setAttribute("aria-valuenow", n + 1);
    slider.setAttribute("aria-valuetext", text);
  };
  return { box, show };
}

function drawLabels(lanes, newLines, raises) {
  const labels = makeElement("div", "stage-lanes", "", { "aria-hidden": "true" });
  for (const lane of lanes) {
    const label = makeElement("div", "", "");
    label.append(makeElement("i", "", "", { style: `background:${colourLane(lane)}` }), lane);
    labels.append(label);
  }
  if (newLines.length) {
    labels.append(makeElement("div", "", NEW_LINE));
  }
  if (raises.length) {
    labels.append(makeElement("div", "", `${RAISE_SIGN} raises`));
  }
  return labels;
}

function drawSteps(script, newLines, height) {
  const { width, middles, marks, folds, ticks } = layOutStrip(script, newLines, height);
  const svg = makeSvgElement("svg", {
    viewBox: `0 0 ${width} ${height}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  for (const y of middles) {
    makeSvgElement("line", { class: "stage-rule", x1: 0, x2: width, y1: y, y2: y }, svg);
  }
  makeSvgElement("path", { class: "stage-rule", d: ticks }, svg);
  marks.forEach((path, n) => {
    if (path) {
      makeSvgElement("path", { d: path, style: `fill:${colourLane(script.lanes[n])}` }, svg);
    }
  });
  if (folds) {
    makeSvgElement("path", { class: "stage-fold", d: folds }, svg);
  }
  return svg;
}

function drawRaise(n, total) {
  const mark = makeElement("span", "stage-raise", RAISE_SIGN, {
    style: `left:${(100 * (n + 0.5)) / total}%`,
    "aria-hidden": "true",
  });
  mark.title = "raises";
  return mark;
}

function letDrag(slider, total, go) {
  const goToPointer = ({ clientX }) => {
    const { left, width } = slider.getBoundingClientRect();
    go(() => Math.floor(((clientX - left) / width) * total));
  };
  slider.addEventListener("pointerdown", (event) => {
    slider.setPointerCapture(event.pointerId);
    goToPointer(event);
  });
  slider.addEventListener("pointermove", (event) => {
    if (event.buttons) {
      goToPointer(event);
    }
  });
}
