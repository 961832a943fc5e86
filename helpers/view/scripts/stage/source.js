// The source: the line that is about to run, and in it the part that runs.

import { makeElement } from "../shared/elements.js";
import { follow, makePane, makeScroll } from "./panes.js";
import { splitPythonLines } from "./python_lines.js";
import { clearDeed, markDeed } from "./source_deeds.js";
import { findNextTrack } from "./steps.js";
import { findColumn, joinByLine, makeTextRange } from "./text_places.js";

const HANGING = 4; // letters by which what wraps is indented
const NEXT_MARK = "▶";

/** Return the pane of the source; `lit` is the mark on what runs, and `tidy` places it again. */
export function makeSourcePane(script, go, links) {
  const pane = makePane("source", "Source");
  const box = makeScroll(makeElement("div", "stage-lines", ""), "Source");
  const list = makeElement("div", "stage-listed", "");
  const lit = makeElement("div", "stage-lit", "", { hidden: "" });
  const hint = makeElement("div", "stage-hint", "", { hidden: "" });
  const rows = drawRows(script, go);
  list.append(...rows, lit, hint);
  box.append(list);
  pane.body.append(box);

  const followRow = (row, steady) => follow(box, row.offsetTop, row.offsetHeight, !steady);
  let current = null; // the row that runs next
  const show = ({ now, steady }) => {
    current = moveNextMark(current, rows[now.line - 1] ?? null);
    if (current) {
      followRow(current, steady);
    }
    for (const row of list.querySelectorAll(".stage-deed")) {
      clearDeed(row);
    }
    const left = rows[now.left - 1];
    if (left) {
      markDeed(left, now.deed, left === current, box.clientWidth);
    }
    if (left && !current) {
      followRow(left, steady);
    }
    lit.classList.toggle("stage-slides", steady);
    putMark(lit, now.span, rows, list);
    pane.aside.textContent = describePlace(now);
  };
  list.addEventListener("mousemove", (event) => {
    const row = event.target.closest?.(".stage-line");
    if (row) {
      links.showPlace(rows.indexOf(row) + 1, findColumn(row.lastChild, event));
    }
  });
  list.addEventListener("mouseleave", () => links.showPlace(0, 0));
  links.connectSpan((span) => putMark(hint, span, rows, list));
  const tidy = (now) => putMark(lit, now.span, rows, list);
  return { box: pane.box, show, lit, tidy };
}

function drawRows(script, go) {
  const used = new Set(script.tracks.map((track) => track.line));
  const pieces = splitPythonLines(script.lines);
  return script.lines.map((text, i) => {
    const line = i + 1;
    const called = String(script.numbers?.[i] ?? line);
    const row = makeElement("div", "stage-line", "");
    const number = makeElement(used.has(line) ? "button" : "span", "stage-number", called);
    const mark = makeElement("span", "stage-mark", "", { "aria-hidden": "true" });
    row.append(number, mark, drawCode(text, pieces[i]));
    if (used.has(line)) {
      number.type = "button";
      number.setAttribute("aria-label", `Go to the next step on line ${called}`);
      number.title = "click: go to the next step on this line";
      row.classList.add("stage-used");
      row.addEventListener("click", () => {
        if (getSelection().isCollapsed) {
          go((at) => findNextTrack(script, (track) => track.line === line, at));
        }
      });
    }
    return row;
  });
}

/** Return a line of Python with its keywords in bold. */
function drawCode(text, pieces) {
  const code = makeElement("code", "stage-code", "");
  const indent = text.search(/\S|$/) + HANGING;
  code.style.paddingLeft = `${indent}ch`;
  code.style.textIndent = `-${indent}ch`;
  for (const piece of pieces) {
    code.append(piece.isKeyword ? makeElement("b", "", piece.text) : piece.text);
  }
  if (!pieces.length) {
    code.append(" ");
  }
  return code;
}

function moveNextMark(current, next) {
  if (current) {
    current.removeAttribute("aria-current");
    current.children[1].textContent = "";
  }
  if (next) {
    next.setAttribute("aria-current", "step");
    next.children[1].textContent = NEXT_MARK;
  }
  return next;
}

/** Put a mark on a span; where its line wraps, a copy of the mark lies on each further piece. */
function putMark(mark, span, rows, list) {
  for (const piece of list.querySelectorAll(`.${mark.classList[0]}.stage-piece`)) {
    piece.remove();
  }
  const row = span && rows[span[0] - 1];
  mark.hidden = !row;
  if (!row) {
    return;
  }
  const outer = list.getBoundingClientRect();
  const scale = outer.width / list.offsetWidth || 1; // of a page that is enlarged, such as a slide
  const rectangles = [...findSpan(row.lastChild, span).getClientRects()];
  joinByLine(rectangles).forEach((line, n) => {
    const piece = n ? mark.cloneNode() : mark;
    piece.style.left = `${(line.left - outer.left) / scale - 2}px`;
    piece.style.top = `${(line.top - outer.top + line.height / 2) / scale - 10}px`;
    piece.style.width = `${(line.right - line.left) / scale + 4}px`;
    if (n) {
      piece.classList.add("stage-piece");
      list.append(piece);
    }
  });
}

/** Return the range of a span in its first line. */
function findSpan(code, [line, start, endLine, end]) {
  const size = code.textContent.length;
  const last = endLine === line ? Math.min(end, size) : size;
  return makeTextRange(code, Math.min(start, size), last);
}

function describePlace({ span, row, line }) {
  if (span) {
    return "lit: runs next";
  }
  if (row >= 0) {
    return "next: no words of its own";
  }
  return line ? `${NEXT_MARK} runs next` : "";
}
