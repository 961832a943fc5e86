import assert from "node:assert/strict";
import test from "node:test";

import { findMove } from "../../../helpers/view/scripts/call_tree/moves.js";
import { makeMask } from "../../../helpers/view/scripts/inline_picture/mask.js";

const FADED = /transparent (-?\d+)px,black (-?\d+)px (-?\d+)px,transparent (-?\d+)px/;

function findStops(start, room, width) {
  return FADED.exec(makeMask(start, room, width))
    .slice(1)
    .map(Number);
}

test("a picture that is seen whole is not faded", () => {
  assert.deepEqual(findStops(0, 500, 500), [-36, 0, 500, 536]);
  assert.deepEqual(findStops(1, 498, 500), [-36, 0, 500, 536], "a pixel is nothing");
});

test("the edges are faded behind which there is more", () => {
  assert.deepEqual(findStops(0, 300, 500), [-36, 0, 264, 300]);
  assert.deepEqual(findStops(200, 300, 500), [200, 236, 500, 536]);
  assert.deepEqual(findStops(2, 300, 500), [2, 38, 266, 302]);
});

test("arrows lead to the blocks beside, and leave out those that are hidden", () => {
  const shown = { style: { display: "" } };
  const hidden = { style: { display: "none" }, nextElementSibling: shown };
  const block = { nextElementSibling: hidden, previousElementSibling: null };
  assert.equal(findMove("ArrowRight")(block), shown);
  assert.equal(findMove("ArrowLeft")(block), null);
  assert.equal(findMove("Enter"), undefined);
});

test("an arrow leads up to the block around, but not out of the tree", () => {
  const outer = {};
  const block = { parentNode: { parentNode: outer } };
  assert.equal(findMove("ArrowUp")(block, outer), outer);
  assert.equal(findMove("ArrowUp")(outer, outer), null);
});

test("an arrow leads down only to blocks that are shown", () => {
  const first = {};
  const make = (isShown) => ({
    children: [{}, { checkVisibility: () => isShown, firstElementChild: first }],
  });
  assert.equal(findMove("ArrowDown")(make(true)), first);
  assert.equal(findMove("ArrowDown")(make(false)), null);
  assert.equal(findMove("ArrowDown")({ children: [{}] }), null);
});
