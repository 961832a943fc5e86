import assert from "node:assert/strict";
import test from "node:test";

import { findQuestion, joinStack } from "../../../helpers/view/scripts/stage/answers.js";
import { readScript } from "../../../helpers/view/scripts/stage/script.js";
import { findRowsAt } from "../../../helpers/view/scripts/stage/source_spans.js";
import { findPopped, findPushedSlots } from "../../../helpers/view/scripts/stage/stack_changes.js";
import {
  clampStep,
  findNextChange,
  findNextTrack,
  findText,
  OUTPUT,
} from "../../../helpers/view/scripts/stage/steps.js";
import { describeChange, describeValue } from "../../../helpers/view/scripts/stage/value_words.js";

// `return x + 1` as widgets/stage.py writes it: pools of what recurs, and a track for each step
const WORDS = [
  "",
  "load x",
  "x goes on the stack",
  "add",
  "adds them",
  "returns 2",
  "1",
  "int",
  "2",
];
const VALUES = [
  [6, 7, 0, 100],
  [8, 7, 0, 101],
  [6, 7, 0, 102],
];
const ROWS = [
  [0, "LOAD_FAST", "x", 0, [1, 7, 1, 8], null],
  [2, "LOAD_CONST", "1", 0, [1, 11, 1, 12], null],
  [4, "BINARY_OP", "+", 1, [1, 7, 1, 12], null],
  [6, "RETURN_VALUE", "", 2, null, 0],
];
const LOADED = { label: 1, says: 2, code: 0, call: 1, taken: 0, locals: [0] };
const STEPS = [
  { ...LOADED, offset: 0, stack: [], locals: [-1], printed: 0, picture: "00" },
  { ...LOADED, offset: 2, stack: [0], printed: 4, picture: "10" },
  { ...LOADED, label: 3, says: 4, offset: 4, stack: [0, 2], taken: 2, printed: 4, picture: "13" },
  {
    ...LOADED,
    label: 5,
    says: 5,
    offset: 6,
    stack: [1],
    taken: 1,
    printed: 8,
    picture: "12",
    ending: 5,
  },
];

function read(steps) {
  const codes = [{ name: "f", depth: 2, names: ["x"], rows: ROWS }];
  const pools = { words: WORDS, values: VALUES, cards: [], codes };
  const picture = { keys: ["a", "b"] };
  const told = { ...pools, steps, total: steps.length, printed: "one\ntwo\n", picture };
  return readScript(JSON.stringify(told));
}

const script = read(STEPS);

test("a step has its words, its row, its values and its part of the picture", () => {
  const step = script.step(3);
  assert.deepEqual([step.label, step.ending, step.row], ["returns 2", "returns 2", 3]);
  assert.deepEqual(step.stack, [{ words: "2", kind: "int", same: "", key: 101 }]);
  assert.deepEqual(step.picture, { a: "shown", b: "new" });
  assert.equal(step.printed, "one\ntwo\n");
  assert.deepEqual(script.step(0).locals, [null]);
  const targets = script.codes[0].rows.map(({ to }) => to);
  assert.deepEqual(targets, [-1, -1, -1, 0]);
});

test("the steps before and after are those of the same call", () => {
  const other = read(STEPS.map((step, n) => ({ ...step, call: n === 1 ? 2 : 1 })));
  assert.equal(other.before(2).n, 0);
  assert.equal(other.after(0).n, 2);
  assert.equal(other.before(1), null);
});

test("what follows steps that were left out is not known", () => {
  assert.equal(read([STEPS[0], {}, STEPS[2]]).after(0), null);
});

test("values that came and went are told by their keys", () => {
  const slots = (popped) => popped.map(({ n }) => n);
  assert.deepEqual(findPushedSlots(script.step(2), script.step(3)), [0]);
  assert.deepEqual(slots(findPopped(script.step(3), script.step(2))), [0, 1]);
  assert.deepEqual(findPopped(script.step(3), script.step(1)), [], "not the step before");
  assert.deepEqual(findPushedSlots(script.step(2), null), []);
});

test("a question for the stack has the right one among its answers, each of them once", () => {
  const { right, answers, present, instruction } = findQuestion(script, 2);
  assert.deepEqual([right.words, instruction], ["2", "BINARY_OP +"]);
  assert.deepEqual(present, ["1", "1"]);
  assert.ok(answers.includes(right));
  assert.equal(new Set(answers.map(({ words }) => words)).size, answers.length);
  assert.equal(answers.length, 4);
  assert.deepEqual(findQuestion(script, 2).answers, answers, "the same order each time");
  assert.equal(findQuestion(script, 3), null, "nothing comes after the last step");
});

test("without a stack the sentence of the step is asked for, among those of others", () => {
  const plain = read(STEPS.map(({ label, says }) => ({ label, says })));
  const { right, answers } = findQuestion(plain, 2);
  assert.equal(right.words, "adds them");
  const words = answers.map((answer) => answer.words).sort();
  assert.deepEqual(words, ["adds them", "x goes on the stack"]);
  assert.equal(joinStack([]), "(empty)");
});

test("a search goes on after this step and then from the start", () => {
  assert.equal(findText(script, "LOAD X", 0), 1);
  assert.equal(findText(script, "load x", 1), 0);
  assert.equal(findText(script, "2", 0), 3, "a value of the stack");
  assert.equal(findText(script, "nowhere", 0), -1);
});

test("a number that is typed goes to the nearest step, and no number to none", () => {
  const clamp = (typed) => clampStep(typed, 4, 9);
  assert.deepEqual([-3, 2.6, 99, Number.NaN].map(clamp), [1, 3, 9, 4]);
});

test("a run stops at the next change of a variable, the output, or a part of the picture", () => {
  const find = (name, at) => findNextChange(script, name, at, new Map([["b", "b of it"]]));
  assert.deepEqual([find("x", 0), find("x", 1)], [1, -1]);
  assert.deepEqual([find(OUTPUT, 0), find(OUTPUT, 1)], [1, 3]);
  assert.deepEqual([find("b of it", 0), find("b of it", 2)], [2, 3]);
});

test("after the last step that fits, the first one comes", () => {
  const isLoad = ({ label }) => label === 1;
  assert.equal(findNextTrack(script, isLoad, 0), 1);
  assert.equal(findNextTrack(script, isLoad, 1), 0);
});

test("of the rows around a place the narrowest ones are found", () => {
  const offsetsAt = (column) =>
    findRowsAt(script.codes[0].rows, 1, column).map(({ offset }) => offset);
  assert.deepEqual(offsetsAt(7), [0]);
  assert.deepEqual(offsetsAt(9), [4]);
  assert.deepEqual(offsetsAt(12), []);
});

test("a value is described by its kind, unless its words tell it", () => {
  assert.equal(describeValue({ words: "1", kind: "int", same: "x" }), "int · is x");
  assert.equal(describeValue({ words: "None", kind: "NoneType", same: "" }), "");
  assert.equal(describeValue({ words: "<f>", kind: "builtin_function_or_method" }), "builtin");
});

test("a variable says what has become of it", () => {
  const one = { words: "1" };
  assert.equal(describeChange(one, one), "");
  assert.equal(describeChange({ words: "2" }, one), "was 1");
  assert.equal(describeChange(one, null), "new");
  assert.equal(describeChange(null, one), "unset, was 1");
  assert.equal(describeChange(null, null), "not set");
});
