// The value stack as blocks that grow upward.

import { makeElement } from "../shared/elements.js";
import { makePane } from "./panes.js";
import { findPopped, findPushedSlots } from "./stack_changes.js";
import { countHidden, layOutStack } from "./stack_layout.js";
import { makeGoneBlock, makePushMark, markAsNew } from "./stack_marks.js";
import { describeValue, NULL_MEANS, shortenKind } from "./value_words.js";

const BASE_HEIGHT = 4; // pixels of the line below the lowest slot
const MARKS = ".stage-gone, .stage-takes, .stage-puts"; // of one step

/** Return the pane of the stack in `room` pixels; `blocks`: key of a value -> its block. */
export function makeStackPane(script, room) {
  const pane = makePane("stack", script.codes.length ? "Value stack" : "Symbolic stack");
  const box = makeElement("div", "stage-blocks", "", { role: "img" });
  const strip = makeElement("div", "stage-strip", "");
  const empty = makeElement("p", "stage-why", "");
  const below = makeElement("div", "stage-below", "");
  const deepest = Math.max(1, ...script.tracks.map((track) => track.stack?.length ?? 0));
  const allowed = Math.max(deepest, ...script.codes.map((code) => code.depth));
  const layout = layOutStack(room, deepest, allowed);
  const limit = layout.slots === allowed && script.codes.length === 1 ? allowed : 0;
  for (let n = 0; n < layout.slots; n++) {
    const slot = makeElement("div", "stage-slot", "", { "aria-hidden": "true" });
    strip.append(place(slot, n, layout));
  }
  strip.append(makeElement("div", "stage-base", ""));
  box.append(strip, empty, below);
  box.style.setProperty("--foot", `${layout.foot - BASE_HEIGHT}px`);
  box.style.height = `${layout.height}px`;
  pane.body.append(box);

  const blocks = new Map();
  let change = { fresh: [], gone: [] };
  const show = ({ now, before, last, after }) => {
    const stack = now.stack ?? [];
    const gone = findPopped(now, before?.call === now.call ? before : null);
    const newSlots = findPushedSlots(last, now);
    const nextSlots = now.ending ? [] : findPushedSlots(now, after);
    for (const mark of strip.querySelectorAll(MARKS)) {
      mark.remove();
    }
    const fresh = placeBlocks(strip, blocks, now, layout);
    change = { fresh, gone };
    for (const slot of newSlots) {
      markAsNew(blocks.get(stack[slot].key));
    }
    for (const slot of nextSlots) {
      strip.append(place(makePushMark(slot < stack.length), slot, layout));
    }
    stack.forEach((value, n) => {
      blocks.get(value.key).classList.toggle("stage-covered", nextSlots.includes(n));
    });
    markPopped(strip, gone, layout);
    markTaken(strip, now, layout);

    const hidden = countHidden(stack.length, nextSlots, layout.visible);
    showVisible(strip, hidden, layout);
    hideCutKinds(strip);
    const isEmpty = now.stack && !stack.length && !gone.length && !nextSlots.length;
    below.textContent = hidden ? `↓ ${hidden} more below` : "";
    empty.textContent = isEmpty ? "empty" : "";
    pane.aside.textContent = now.stack ? nameDepth(stack.length, limit) : "none at this step";
    box.setAttribute("aria-label", describeStack(stack, newSlots, now.taken));
  };
  return { box: pane.box, show, blocks, change: () => change };
}

function place(element, slot, { foot, pitch, size }) {
  element.dataset.slot = slot;
  element.style.bottom = `${foot + slot * pitch}px`;
  element.style.height = `${size}px`;
  return element;
}

/** Place a block for each value of the stack; return those that came, each with its value. */
function placeBlocks(strip, blocks, { stack, taken }, layout) {
  const values = stack ?? [];
  const keys = new Set(values.map(({ key }) => key));
  for (const [key, block] of blocks) {
    if (!keys.has(key)) {
      block.remove();
      blocks.delete(key);
    }
  }
  const fresh = [];
  values.forEach((value, n) => {
    if (!blocks.has(value.key)) {
      blocks.set(value.key, makeElement("div", "stage-block", ""));
      fresh.push({ value, block: blocks.get(value.key) });
    }
    const block = blocks.get(value.key);
    fillBlock(block, value);
    block.classList.toggle("stage-taking", n >= values.length - taken);
    strip.append(place(block, n, layout));
  });
  return fresh;
}

function fillBlock(block, value) {
  const isNull = value.words === "NULL" && !value.kind;
  const kind = shortenKind(value.kind);
  const description = isNull ? "empty slot" : describeValue(value);
  block.classList.toggle("stage-null", isNull);
  block.classList.remove("stage-fresh");
  block.replaceChildren(makeElement("span", "", value.words));
  if (description) {
    block.append(makeElement("small", "", description));
  }
  block.title = kind ? `${value.words} (${kind})` : value.words;
  if (isNull) {
    block.title = NULL_MEANS;
  }
  if (value.same) {
    block.title += `: the very object that ${value.same} refers to`;
  }
}

function markPopped(strip, gone, layout) {
  if (!gone.length) {
    return;
  }
  for (const { value, n } of gone) {
    if (n < layout.slots) {
      strip.append(place(makeGoneBlock(value), n, layout));
    }
  }
  const top = Math.max(...gone.map(({ n }) => n)) + 1;
  const label = makeElement("div", "stage-takes stage-popped", "just popped");
  label.style.bottom = `${layout.foot + Math.min(top, layout.slots) * layout.pitch - 2}px`;
  strip.append(label);
}

/** Put a bracket beside the values that this step pops. */
function markTaken(strip, { stack, taken }, { foot, pitch, size }) {
  if (!taken || !stack?.length) {
    return;
  }
  const bracket = makeElement("div", "stage-takes stage-bracket", `pops ${taken}`);
  bracket.style.bottom = `${foot + (stack.length - taken) * pitch}px`;
  bracket.style.height = `${(taken - 1) * pitch + size}px`;
  strip.append(bracket);
}

function showVisible(strip, hidden, { pitch, visible }) {
  for (const element of strip.querySelectorAll("[data-slot]")) {
    const slot = Number(element.dataset.slot);
    element.classList.toggle("stage-out", slot < hidden || slot >= hidden + visible);
  }
  strip.style.transform = `translateY(${hidden * pitch}px)`;
}

/** Hide the types that are cut: one of them says less than none. */
function hideCutKinds(strip) {
  for (const kind of strip.querySelectorAll(".stage-block small")) {
    kind.hidden = false;
    kind.hidden = kind.scrollWidth > kind.clientWidth;
  }
}

function nameDepth(depth, limit) {
  if (limit) {
    return `${depth} of at most ${limit}`;
  }
  return depth === 1 ? "1 value" : `${depth} values`;
}

function describeStack(stack, newSlots, taken) {
  const values = stack.map(({ words }) => words).reverse();
  const parts = [`Value stack, top first: ${values.join(", ") || "empty"}`];
  if (newSlots.length) {
    parts.push(`new: ${newSlots.map((slot) => stack[slot].words).join(", ")}`);
  }
  if (taken) {
    parts.push(`pops the top ${taken}`);
  }
  return parts.join("; ");
}
