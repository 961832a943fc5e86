import assert from "node:assert/strict";
import test from "node:test";

import { makeModel } from "../../../helpers/view/scripts/host/model.js";
import { makeAnswers } from "../../../helpers/view/scripts/host/recorded_answers.js";
import { compareCalls, counts, isSameChoice } from "../../../helpers/view/scripts/sandbox/calls.js";

const CONTROLS = [
  ["kind", ["tensor", "number"], "", []],
  ["dtype", ["int", "float"], "kind", ["tensor"]],
];

test("a control counts always, or for some choices of another one", () => {
  const count = (kind) => CONTROLS.map((control) => counts(control, { kind }));
  assert.deepEqual(count("tensor"), [true, true]);
  assert.deepEqual(count("number"), [true, false]);
});

test("choices are the same if those that count are", () => {
  const same = (choices, picked) => isSameChoice(CONTROLS, choices, picked);
  assert.ok(same({ kind: "number", dtype: "int" }, { kind: "number", dtype: "float" }));
  assert.ok(!same({ kind: "tensor", dtype: "int" }, { kind: "tensor", dtype: "float" }));
});

test("of a call the words are new that are not as before, if it has as many", () => {
  const findNew = (call, before) => compareCalls(call, before).filter(({ isNew }) => isNew);
  assert.deepEqual(findNew("f(2, 'a')", "f(1, 'a')"), [{ text: "2", isNew: true }]);
  assert.deepEqual(findNew("f(2)", "f(2, 3)"), []);
  const pieces = compareCalls("f(2, x)", "");
  assert.equal(pieces.map(({ text }) => text).join(""), "f(2, x)");
});

test("a recorded sandbox answers for the choices that count, and keeps the score", () => {
  const run = { call: "f(1)", verdict: "hit", says: "{guess}: {right} of {tries}", rows: "<tr>" };
  const answer = makeAnswers({ runs: { number: run } }, {});
  const picked = { kind: "number", dtype: "int" };
  const state = { picked, controls: CONTROLS };
  assert.deepEqual(answer(null, state), { call: "f(1)" });
  const wrong = answer({ guess: "trace", picked, press: "1" }, state).answer;
  const right = answer({ guess: "hit", picked, press: "2" }, state).answer;
  assert.deepEqual([wrong.right, wrong.says], [false, "trace: 0 of 1"]);
  assert.deepEqual([right.right, right.says, right.press], [true, "hit: 1 of 2", "2"]);
});

test("a recorded program answers only as it was written", () => {
  const record = { runs: { a: { says: "ran", shown: "1" } }, unknown: "not run" };
  const answer = makeAnswers(record, { labels: ["a"], sources: ["x"] });
  assert.equal(answer(null), null);
  assert.equal(answer({ label: "a", source: "x" }).answer.says, "ran");
  const changed = answer({ label: "a", source: "y" }).answer;
  assert.deepEqual(changed, { says: "not run", shown: "", number: 2 });
});

test("a model tells its listeners of what has changed, and of nothing else", () => {
  const heard = [];
  const saved = [];
  const answer = () => ({ b: 3 });
  const model = makeModel({ a: 1, b: 1 }, answer, (state) => saved.push({ ...state }));
  const hearB = () => heard.push("b");
  model.on("change:a", () => heard.push("a"));
  model.on("change:b change", hearB);
  model.set("a", 1);
  assert.deepEqual(heard, []);
  model.set({ a: 2, b: 2 });
  assert.deepEqual(heard, ["a", "b", "b"]);
  model.off("change:b change", hearB);
  model.save_changes();
  assert.deepEqual(heard, ["a", "b", "b"]);
  assert.deepEqual(saved, [{ a: 2, b: 3 }]);
});
