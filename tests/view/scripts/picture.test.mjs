import assert from "node:assert/strict";
import test from "node:test";

import {
  easeOut,
  interpolate,
  joinPoints,
} from "../../../helpers/view/scripts/picture/arrow_motion.js";
import { findShift } from "../../../helpers/view/scripts/picture/shifts.js";
import { describePart, findMovedArrows } from "../../../helpers/view/scripts/picture/states.js";

const SLOTS = new Map([
  ["a1", "a"],
  ["a2", "a"],
  ["b1", "b"],
]);
const ROOM = { left: 100, right: 300 };

function shift(rectangles, boxes = []) {
  return findShift(ROOM, rectangles, boxes, "left", "right");
}

test("an arrow has moved where one of the same slot is gone, also as a ghost", () => {
  const find = (state, previous) => [...findMovedArrows(SLOTS, state, previous)];
  assert.deepEqual(find({ a2: "new" }, { a1: "shown" }), [["a1", "a2"]]);
  assert.deepEqual(find({ a1: "ghost", a2: "new" }, { a1: "shown" }), [["a1", "a2"]]);
  assert.deepEqual(find({ a1: "shown", a2: "new" }, { a1: "shown" }), []);
  assert.deepEqual(find({ b1: "new" }, { a1: "shown" }), []);
});

test("a screen reader hears of what is there, and of its state if it is special", () => {
  assert.equal(describePart("x is 1", "shown"), "x is 1");
  assert.equal(describePart("x is 1", "new"), "new: x is 1");
  assert.equal(describePart("x is 1", "ghost"), "");
  assert.equal(describePart("x is 1", undefined), "");
  assert.equal(describePart(undefined, "shown"), "");
});

test("a movement begins and ends at its ends", () => {
  assert.deepEqual([easeOut(0), easeOut(1)], [0, 1]);
  const start = [{ x: 0, y: 10 }];
  const end = [{ x: 4, y: 20 }];
  assert.deepEqual(interpolate(start, end, 0), start);
  assert.deepEqual(interpolate(start, end, 0.5), [{ x: 2, y: 15 }]);
  assert.deepEqual(interpolate(start, end, 1), end);
  assert.equal(joinPoints([...start, ...end]), "M0.0 10.0L4.0 20.0");
});

test("a window scrolls only to what is out of it, and a margin further", () => {
  assert.equal(shift([{ left: 100, right: 300 }]), 0);
  assert.equal(shift([{ left: 90, right: 120 }]), -10 - 44);
  assert.equal(shift([{ left: 280, right: 310 }]), 10 + 44);
});

test("of what does not fit the boxes count, and otherwise its beginning", () => {
  const wide = { left: 0, right: 900 };
  assert.equal(shift([wide], [{ left: 150, right: 200 }]), 0);
  assert.equal(shift([wide]), -100 - 44);
  assert.equal(shift([{ left: 290, right: 900 }]), 290 - 100 - 44);
});
