import assert from "node:assert/strict";
import test from "node:test";

import { covers, cutLines, measureSpan } from "../../../helpers/view/scripts/code/spans.js";

const LINES = ["x = f(1)", "y = '🐍' + g"];

test("the pieces of a line are the line", () => {
  const spans = [
    [1, 4, 1, 8],
    [1, 6, 2, 3],
    [0, 0, 0, 0],
    [2, 8, 9, 99],
  ];
  const joined = cutLines(LINES, spans).map((pieces) => pieces.map(({ text }) => text).join(""));
  assert.deepEqual(joined, LINES);
});

test("a line is cut where spans begin and end, in letters", () => {
  const [, second] = cutLines(LINES, [[2, 4, 2, 7]]);
  assert.deepEqual(second, [
    { place: [2, 0], text: "y = " },
    { place: [2, 4], text: "'🐍'" },
    { place: [2, 7], text: " + g" },
  ]);
});

test("a span covers its start and not its end; line 0 is no place", () => {
  const span = [1, 4, 2, 3];
  for (const place of [
    [1, 4],
    [1, 99],
    [2, 0],
    [2, 2],
  ]) {
    assert.ok(covers(span, place), String(place));
  }
  for (const place of [
    [1, 3],
    [2, 3],
  ]) {
    assert.ok(!covers(span, place), String(place));
  }
  assert.ok(!covers([0, 0, 9, 9], [1, 1]));
});

test("more lines are always longer", () => {
  assert.ok(measureSpan([1, 0, 1, 900]) < measureSpan([1, 90, 2, 0]));
});
