// The rows of one code object, its arcs and its pointer.

import { makeElement, makeSvgElement } from "../shared/elements.js";
import { makeArcPath } from "./arc_layout.js";
import { drawArcs } from "./arcs.js";
import { findHandlerOffset, splitOpname } from "./opcodes.js";
import { findNextTrack } from "./steps.js";

const ROW_HEIGHT = { least: 17, most: 20 }; // pixels
const WIDEST_OPNAME = 15; // letters of the column of names

/** Return the rows of a code object in `room` pixels; `show` marks the one that runs next. */
export function makeInstructionList(code, script, go, links, room) {
  const height = Math.max(
    ROW_HEIGHT.least,
    Math.min(ROW_HEIGHT.most, Math.floor(room / code.rows.length)),
  );
  const box = makeElement("div", "stage-listed", "", {
    style: `height:${height * code.rows.length}px`,
  });
  const longest = Math.max(...code.rows.map((row) => row.opname.length));
  box.style.setProperty("--gutter", `${measureGutter(code, script)}px`);
  box.style.setProperty("--op", `${Math.min(WIDEST_OPNAME, longest)}ch`);

  const pointer = makeElement("div", "stage-pointer", "", { style: `height:${height}px` });
  const rows = drawRows(code, script, go, links, height);
  const arcs = drawArcs(code.rows, height);
  const thrown = makeSvgElement("path", { class: "stage-arc stage-thrown" }, arcs.svg);
  box.append(pointer, ...rows, arcs.svg);

  const show = (now, steady, after) => {
    const outcome = findOutcome(code, now, after);
    const isThrown = outcome.caughtAt != null;
    markCurrent(rows, now.row);
    movePointer(pointer, now, height, steady);
    markArcs(arcs.jumps, now.row, outcome);
    thrown.setAttribute("d", isThrown ? makeArcPath(now.row, outcome.caughtAt, 1, height) : "");
    markOutcome(rows, now, outcome);
  };
  const hint = (hinted) => {
    rows.forEach((row, n) => {
      row.classList.toggle("stage-hinted", hinted.includes(code.rows[n]));
    });
  };
  return { box, show, hint, rows: code.rows, jumps: arcs.jumps, height };
}

function drawRows(code, script, go, links, height) {
  const runs = (track, { offset }) => script.codes[track.code] === code && track.offset === offset;
  const own = script.tracks.filter((track) => script.codes[track.code] === code);
  const ran = new Set(own.map((track) => track.offset));
  let line = 0; // of the source
  return code.rows.map((instruction, n) => {
    const row = drawRow(instruction);
    row.style.cssText = `top:${n * height}px;height:${height}px;line-height:${height}px`;
    const ownLine = instruction.span?.[0] ?? 0;
    row.classList.toggle("stage-first", Boolean(n && ownLine && ownLine !== line));
    line = ownLine || line;
    if (ran.has(instruction.offset)) {
      row.classList.add("stage-used");
      row.addEventListener("click", () =>
        go((at) => findNextTrack(script, (track) => runs(track, instruction), at)),
      );
    } else {
      row.title += ": not run in any step here";
    }
    row.addEventListener("mouseenter", () => links.showRow(instruction));
    row.addEventListener("mouseleave", () => links.showRow(null));
    return row;
  });
}

function drawRow({ offset, opname, argument, to }) {
  const row = makeElement("div", "stage-row", "");
  row.append(
    makeElement("i", "", String(offset)),
    drawOpname(opname),
    makeElement("em", "", argument),
    makeElement("small", "", ""),
  );
  row.classList.toggle("stage-jumps", to >= 0);
  row.dataset.name = opname;
  row.title = `${offset} ${opname} ${argument}`.trim();
  return row;
}

/** Return the name of an instruction; where it is long its first part gives way. */
function drawOpname(opname) {
  const name = makeElement("span", "", "");
  const { start, end } = splitOpname(opname);
  if (start) {
    name.append(makeElement("s", "", start));
  }
  name.append(end);
  return name;
}

/** Return what comes of the row that runs: whether it jumps, and the row that handles its exception. */
function findOutcome(code, now, after) {
  const isKnown = Boolean(after) && !now.ending;
  const to = code.rows[now.row]?.to;
  const jumps = isKnown && after.row === to;
  const raises = now.ending.startsWith("raises");
  const caughtAt = raises ? code.at.get(findHandlerOffset(now.handler)) : null;
  const target = caughtAt ?? (jumps ? after.row : -1);
  return { jumps, staysOn: isKnown && !jumps, isJump: to >= 0, caughtAt, target };
}

function markCurrent(rows, current) {
  rows.forEach((row, n) => {
    row.classList.toggle("stage-now", n === current);
    row.removeAttribute("aria-current");
  });
  rows[current]?.setAttribute("aria-current", "true");
}

function movePointer(pointer, now, height, steady) {
  pointer.hidden = now.row < 0;
  pointer.classList.toggle("stage-slides", steady);
  pointer.classList.toggle("stage-raises", now.ending.startsWith("raises"));
  if (now.row >= 0) {
    pointer.style.transform = `translateY(${now.row * height}px)`;
  }
}

function markArcs(jumps, current, { jumps: isTaken, staysOn }) {
  for (const { group, from } of jumps) {
    group.classList.toggle("stage-taken", from === current && isTaken);
    group.classList.toggle("stage-untaken", from === current && staysOn);
  }
}

function markOutcome(rows, now, { target, staysOn, isJump }) {
  rows.forEach((row, n) => {
    row.classList.toggle("stage-target", n === target);
    row.classList.toggle("stage-thrower", n === now.thrower);
    row.lastChild.textContent = "";
  });
  if (isJump && staysOn) {
    rows[now.row].lastChild.textContent = "not taken";
  }
  if (now.thrower >= 0) {
    rows[now.thrower].lastChild.textContent = "✕ raised";
  }
}

/** Return the width in pixels that the arcs of a code object need. */
export function measureGutter(code, script) {
  const jumps = code.rows.some((row) => row.to >= 0);
  const handles = script.words.some((words) => words.startsWith("go to "));
  return jumps || handles ? 34 : 6;
}
