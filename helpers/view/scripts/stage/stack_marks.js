// Marks on the stack: what is new, what was just popped, and where the next result goes.

import { makeElement } from "../shared/elements.js";

/** Mark the block of a value that was just pushed. */
export function markAsNew(block) {
  block.classList.add("stage-fresh");
  block.append(makeElement("u", "stage-tag", "new"));
  block.title += ": just pushed";
}

/** Return a mark where the next result goes: an empty slot, or one whose value is popped first. */
export function makePushMark(isTaken) {
  const mark = makeElement("div", "stage-puts", "", { "aria-hidden": "true" });
  mark.classList.toggle("stage-over-value", isTaken);
  mark.append(makeElement("u", "stage-tag", isTaken ? "+" : "+ pushes here"));
  mark.title = "the next result goes here";
  return mark;
}

/** Return the ghost of a value that was just popped. */
export function makeGoneBlock(value) {
  const block = makeElement("div", "stage-gone", "");
  block.append(makeElement("span", "", value.words));
  block.title = `just popped: ${value.words}`;
  return block;
}
