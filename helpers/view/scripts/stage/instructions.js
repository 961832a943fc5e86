// The instructions of the function that runs, of which the window shows whole rows only.

import { makeElement } from "../shared/elements.js";
import { markExits } from "./arcs.js";
import { makeInstructionList } from "./instruction_list.js";
import { follow, makePane, makeScroll } from "./panes.js";

const MORE_HEIGHT = 15; // pixels of the line that counts the rows above or below
const HEADING_HEIGHT = 38; // pixels of what stands above the rows
const GUARD_HEIGHT = 36; // pixels of the line on the exception handler
const LEAST_ROWS = 3;
const MOST_EXITS = 3; // jumps out of the window that are named

/** Return the pane of the instructions; `room` is its height in pixels. */
export function makeInstructionPane(script, go, links, room) {
  const pane = makePane("instructions", "Instructions");
  const box = makeScroll(makeElement("div", "stage-rows", ""), "Instructions");
  const guard = makeElement("div", "stage-guard", "");
  const above = makeElement("div", "stage-more", "");
  const below = makeElement("div", "stage-more", "");
  const isGuarded = script.tracks.some((step) => script.words[step.handler]);
  pane.body.append(above, box, below);
  if (isGuarded) {
    pane.body.append(guard);
  }
  const rowsRoom = room - HEADING_HEIGHT - (isGuarded ? GUARD_HEIGHT : 0);
  const findList = makeListFinder(script, go, links, rowsRoom);
  let list = null;
  let current = -1; // the row that runs next

  const count = () => countHidden(list, box, above, below);
  const followRow = (atOnce) => {
    if (current >= 0) {
      follow(box, current * list.height, list.height, atOnce);
    }
  };
  const tidy = () => {
    if (list) {
      const height = pane.body.clientHeight - (isGuarded ? guard.offsetHeight : 0);
      fitRows(list, box, height, above, below);
      followRow(true);
      count();
    }
  };
  const open = (newList, row) => {
    list = newList;
    current = row;
    box.replaceChildren(list.box);
    box.scrollTop = 0;
    tidy();
  };
  const show = ({ now, after, steady }) => {
    if (now.code && list !== findList(now.code)) {
      open(findList(now.code), now.row);
    }
    const isNamed = script.codes.length > 1 && now.code;
    pane.aside.textContent = isNamed ? `of ${now.code.name}` : "caches hidden";
    guard.textContent = now.handler ? `⚑ on an exception: ${now.handler}` : "";
    current = now.row;
    if (list) {
      list.show(now, steady, after);
      followRow(!steady);
      count();
    }
  };
  box.addEventListener("scroll", () => list && count());
  new ResizeObserver(tidy).observe(pane.body);
  links.connectRows(
    (rows) => list?.hint(rows),
    () => list?.rows ?? [],
  );
  return { box: pane.box, show };
}

function makeListFinder(script, go, links, room) {
  const lists = new Map();
  return (code) => {
    if (!lists.has(code)) {
      lists.set(code, makeInstructionList(code, script, go, links, room));
    }
    return lists.get(code);
  };
}

/** Give the window the height of as many whole rows as there is room for. */
function fitRows(list, box, room, above, below) {
  const total = list.rows.length;
  const isCut = total * list.height > room;
  const fitting = Math.max(LEAST_ROWS, Math.floor((room - 2 * MORE_HEIGHT) / list.height));
  above.hidden = !isCut;
  below.hidden = !isCut;
  box.style.height = `${(isCut ? fitting : total) * list.height}px`;
}

/** Say how many rows lie above and below the window, and which of them jumps lead to. */
function countHidden(list, box, above, below) {
  const first = Math.round(box.scrollTop / list.height);
  const last = first + Math.round(box.clientHeight / list.height) - 1;
  const exits = markExits(list.jumps, list.height, first, last);
  const nameExits = (rows, arrow) =>
    rows.slice(0, MOST_EXITS).map((row) => `${arrow} ${list.rows[row].offset}`);
  fillMore(above, nameExits(exits.above, "↑"), first);
  fillMore(below, nameExits(exits.below, "↓"), list.rows.length - 1 - last);
}

function fillMore(line, exits, hidden) {
  line.replaceChildren(
    makeElement("b", "", exits.join("  ")),
    makeElement("span", "", hidden > 0 ? `… ${hidden} more` : ""),
  );
}
