// Jumps as arcs in the gutter of the instructions, at most three side by side.

import { makeSvgElement } from "../shared/elements.js";
import { findExit, layOutJumps, makeArcPath, makeExitPath, makeTipPath } from "./arc_layout.js";

/** Draw the arcs of these rows; one that finds no place is drawn only when it is due. */
export function drawArcs(rows, height) {
  const svg = makeSvgElement("svg", {
    class: "stage-arcs",
    width: 34,
    height: rows.length * height,
    "aria-hidden": "true",
  });
  const jumps = layOutJumps(rows).map((jump) => drawJump(jump, height, svg));
  return { svg, jumps };
}

function drawJump(jump, height, svg) {
  const className = jump.crowded ? "stage-jump stage-crowded" : "stage-jump";
  const group = makeSvgElement("g", { class: className }, svg);
  const path = makeArcPath(jump.from, jump.to, jump.level, height);
  makeSvgElement("path", { class: "stage-arc", d: path }, group);
  makeSvgElement("path", { class: "stage-tip", d: makeTipPath(jump.to, height) }, group);
  const exit = makeSvgElement("path", { class: "stage-tip" }, group);
  return { ...jump, group, exit };
}

/**
 * Draw an arrow at the edge for each arc from a row in the window to one outside it.
 *
 * Return the rows that they lead to, `above` and `below` the window.
 */
export function markExits(jumps, height, first, last) {
  const above = new Set();
  const below = new Set();
  for (const jump of jumps) {
    const way = findExit(jump, first, last);
    const edge = (way < 0 ? first : last + 1) * height;
    jump.exit.setAttribute("d", makeExitPath(way, jump.level, edge));
    if (way && isDrawn(jump.group)) {
      (way < 0 ? above : below).add(jump.to);
    }
  }
  return { above: [...above], below: [...below] };
}

function isDrawn(group) {
  return !group.matches(".stage-crowded") || group.matches(".stage-taken, .stage-untaken");
}
