import assert from "node:assert/strict";
import test from "node:test";

import {
  findExit,
  layOutJumps,
  makeArcPath,
} from "../../../helpers/view/scripts/stage/arc_layout.js";
import { findNewLines, findRaises } from "../../../helpers/view/scripts/stage/lanes.js";
import {
  countLetters,
  findHandlerOffset,
  splitOpname,
} from "../../../helpers/view/scripts/stage/opcodes.js";
import {
  collectContents,
  makePlaceFinder,
} from "../../../helpers/view/scripts/stage/panel_places.js";
import { splitPythonLines } from "../../../helpers/view/scripts/stage/python_lines.js";
import { countHidden, layOutStack } from "../../../helpers/view/scripts/stage/stack_layout.js";
import { layOutStrip, measureStrip } from "../../../helpers/view/scripts/stage/strip_layout.js";
import { joinByLine } from "../../../helpers/view/scripts/stage/text_places.js";

test("arcs that overlap have different levels, and the shorter one lies inside", () => {
  const jumps = layOutJumps([5, 2, -1, 4, -1, -1].map((to) => ({ to })));
  const levels = Object.fromEntries(jumps.map(({ from, level }) => [from, level]));
  assert.deepEqual(levels, { 0: 1, 1: 0, 3: 0 });
  assert.ok(jumps.every(({ crowded }) => !crowded));
});

test("the fourth of four arcs around each other finds no place", () => {
  const jumps = layOutJumps([7, 6, 5, 4, -1, -1, -1, -1].map((to) => ({ to })));
  const crowded = jumps.filter((jump) => jump.crowded);
  assert.deepEqual(
    crowded.map(({ from }) => from),
    [0],
  );
  assert.equal(crowded[0].level, 2, "it is drawn at the last level when it is due");
});

test("an arc leaves its row below the middle and ends in the middle of the other one", () => {
  const path = makeArcPath(0, 3, 0, 20);
  assert.ok(path.startsWith("M32 14H23"), path);
  assert.ok(path.endsWith("18 70 23 70H28"), path);
});

test("a jump leaves the window at the edge that its end lies behind", () => {
  assert.equal(findExit({ from: 4, to: 2 }, 3, 6), -1);
  assert.equal(findExit({ from: 4, to: 9 }, 3, 6), 1);
  assert.equal(findExit({ from: 4, to: 5 }, 3, 6), 0);
  assert.equal(findExit({ from: 1, to: 9 }, 3, 6), 0);
});

test("a stack keeps to its room, and shows as many slots as there is room for", () => {
  for (const room of [60, 110, 150, 250, 400]) {
    for (const deepest of [1, 3, 20]) {
      const layout = layOutStack(room, deepest, deepest + 2);
      const { slots, size, pitch, visible, foot, height } = layout;
      const told = `${deepest} slots in ${room} pixels: ${JSON.stringify(layout)}`;
      assert.ok(slots === deepest || slots === deepest + 2, told);
      assert.ok(size >= 20 && size <= 34 && pitch > size, told);
      assert.ok(height <= room, told);
      assert.equal(foot === 17, visible < slots, told);
    }
  }
});

test("the highest slot in use is seen", () => {
  assert.equal(countHidden(5, [], 5), 0);
  assert.equal(countHidden(5, [5], 5), 1);
  assert.equal(countHidden(0, [], 5), 0);
});

test("a strip marks each step in its lane, and steps of any kind in all of them", () => {
  const height = measureStrip(3);
  const told = { total: 3, tracks: [{ lane: 1 }, { lane: -1 }, { lane: 0 }], lanes: ["a", "b"] };
  assert.deepEqual(layOutStrip(told, [2], height), {
    width: 60,
    middles: [9, 20],
    marks: ["M44 4h12v10h-12z", "M4 15h12v10h-12z"],
    folds: `M24 4h12v${height - 8}h-12z`,
    ticks: `M40 2V${height - 2}`,
  });
});

test("new lines and steps that raise are marked where there are not too many steps", () => {
  const tracks = [{ line: 1 }, { line: 1, ending: 1 }, { line: 2 }];
  const told = { total: 3, tracks, words: ["", "raises KeyError"] };
  assert.deepEqual(findNewLines(told), [2]);
  assert.deepEqual(findRaises(told), [1]);
  assert.deepEqual(findNewLines({ ...told, total: 200 }), []);
  assert.deepEqual(findRaises({ ...told, total: 200 }), []);
});

test("a long name of an instruction is cut before its last part", () => {
  const { start, end } = splitOpname("POP_JUMP_FORWARD_IF_NONE");
  assert.deepEqual([start, end], ["POP_JUMP_FORWARD", "_IF_NONE"]);
  assert.deepEqual(splitOpname("LOAD_FAST"), { start: "", end: "LOAD_FAST" });
});

test("the column of instructions has room for so many letters and no more", () => {
  const count = (argument, to = -1) => countLetters([{ opname: "LOAD_FAST", argument, to }]);
  assert.equal(count("x"), 16);
  assert.equal(count("to 8", 4), 13);
  assert.equal(count("x".repeat(90)), 34);
});

test("the offset of a handler is read from its words", () => {
  assert.equal(findHandlerOffset("go to 24, keep 1"), 24);
  assert.ok(Number.isNaN(findHandlerOffset("")));
});

test("keywords are found, but not in strings and comments", () => {
  const lines = ["if x is None:  # not", "    y = 'for' + f\"in\"", '    """or', 'and""" or z', ""];
  const split = splitPythonLines(lines);
  const keywords = split.map((pieces) => pieces.filter(({ isKeyword }) => isKeyword));
  const words = keywords.map((pieces) => pieces.map(({ text }) => text));
  assert.deepEqual(words, [["if", "is", "None"], [], [], ["or"], []]);
  assert.deepEqual(
    split.map((pieces) => pieces.map(({ text }) => text).join("")),
    lines,
  );
});

test("rectangles of one line are joined, and empty ones left out", () => {
  const box = (left, right, top) => ({ left, right, top, height: 10, width: right - left });
  const joined = joinByLine([
    box(5, 9, 0),
    box(9, 20, 2),
    box(6, 8, 1),
    box(0, 0, 0),
    box(1, 4, 12),
  ]);
  assert.deepEqual(joined, [
    { left: 5, right: 20, top: 0, height: 10 },
    { left: 1, right: 4, top: 12, height: 10 },
  ]);
});

test("a panel keeps its place by title, or by position where there are many titles", () => {
  const tracks = [
    {
      panels: [
        ["a", 0],
        ["", 1],
      ],
    },
    {},
    { panels: [["a", 2]] },
  ];
  const findPlace = makePlaceFinder(tracks);
  assert.deepEqual([findPlace("a", 5), findPlace("", 1)], ["a", "#1"]);
  const contents = collectContents(tracks, findPlace);
  assert.deepEqual([...contents.get("a")], [0, 2]);
  const titles = ["a", "b", "c", "d", "e", "f", "g"].map((title) => [title, 0]);
  assert.equal(makePlaceFinder([{ panels: titles.slice(1) }])("a", 3), "a");
  assert.equal(makePlaceFinder([{ panels: titles }])("a", 3), "#3");
});
