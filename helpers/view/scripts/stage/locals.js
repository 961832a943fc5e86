// The variables of the function that runs.

import { makeElement } from "../shared/elements.js";
import { follow, makePane, makeScroll } from "./panes.js";
import { describeChange, shortenKind } from "./value_words.js";

const MOST_ROWS = 5; // of more the box scrolls
const ROW_HEIGHT = 24; // pixels
const HEADING_HEIGHT = 28; // pixels, with the edges of the box
const CELL = " (cell)"; // after the name of a variable that inner functions share

/** Return the pane of the variables; `findPlace(name)` is the element with the value of one. */
export function makeLocalsPane(script) {
  const pane = makePane("locals", "Locals");
  const box = makeElement("div", "stage-locals", "");
  const most = Math.max(1, ...script.codes.map((code) => code.names.length));
  const rowsHeight = Math.min(most, MOST_ROWS) * ROW_HEIGHT;
  box.style.height = `${rowsHeight + 2}px`;
  if (most > MOST_ROWS) {
    makeScroll(box, "Locals");
  }
  pane.body.append(box);

  let code = null;
  let rows = [];
  const open = (newCode) => {
    code = newCode;
    rows = code.names.map(makeRow);
    box.replaceChildren(...rows);
    if (!rows.length) {
      box.append(makeElement("p", "stage-none", "it has none"));
    }
  };
  const show = ({ now, last }) => {
    if (!now.locals) {
      return;
    }
    if (now.code !== code) {
      open(now.code);
    }
    now.locals.forEach((value, n) => {
      fillRow(rows[n], value, last?.locals ? last.locals[n] : value);
    });
    const set = now.locals.filter(Boolean).length;
    pane.aside.textContent = rows.length ? `${set} of ${rows.length} set` : "";
    const changed = rows.find((row) => row.classList.contains("stage-changed"));
    if (changed && most > MOST_ROWS) {
      follow(box, changed.offsetTop, ROW_HEIGHT, true);
    }
  };
  const findPlace = (name) => rows.find((row) => row.dataset.name === name)?.children[1];
  return { box: pane.box, show, height: rowsHeight + HEADING_HEIGHT, findPlace };
}

function makeRow(name) {
  const row = makeElement("div", "stage-local", "");
  const isCell = name.endsWith(CELL);
  row.dataset.name = isCell ? name.slice(0, -CELL.length) : name;
  row.classList.toggle("stage-cell", isCell);
  const label = makeElement("b", "", row.dataset.name);
  label.title = isCell ? `${name}: a box that inner functions share` : name;
  row.append(label, makeElement("span", "", ""), makeElement("small", "", ""));
  row.append(makeElement("small", "stage-was", ""));
  return row;
}

function fillRow(row, value, before) {
  const [, text, kind, change] = row.children;
  text.textContent = value ? value.words : "–";
  text.title = value?.words ?? "";
  kind.textContent = value ? nameKind(row, value) : "";
  change.textContent = describeChange(value, before);
  change.title = change.textContent;
  row.classList.toggle("stage-unset", !value);
  row.classList.toggle("stage-changed", value?.words !== before?.words);
}

function nameKind(row, value) {
  return row.classList.contains("stage-cell") ? "shared cell" : shortenKind(value.kind);
}
