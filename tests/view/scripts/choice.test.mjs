import assert from "node:assert/strict";
import test from "node:test";

import { splitCode, wordMark, wordVerdict } from "../../../helpers/view/scripts/choice/verdict.js";

const QUESTION = { choices: ["one", "two."], answer: 0, verb: "gave", why: "because" };

function decide(decision) {
  return wordVerdict({ ...QUESTION, picked: -1, checked: false, skipped: false, ...decision });
}

test("nothing is said before a decision", () => {
  assert.deepEqual(decide({}), { mark: "", text: "", why: "" });
  assert.deepEqual(decide({ picked: 0 }), { mark: "", text: "", why: "" });
});

test("a check without a choice asks for one, and does not give the answer away", () => {
  const { mark, text, why } = decide({ checked: true });
  assert.equal(mark + why, "");
  assert.ok(text && !text.includes("gave"));
});

test("a decision is judged, and the sentence ends with one full stop", () => {
  assert.deepEqual(decide({ picked: 0, checked: true }), {
    mark: "✓ Right:",
    text: " it ran and gave one. ",
    why: "because",
  });
  const wrong = decide({ picked: 0, checked: true, answer: 1 });
  assert.equal(wrong.mark, "✗ Not this time:");
  assert.equal(wrong.text, " you chose one; running it gave two. ");
});

test("a question that is skipped says what happened", () => {
  assert.equal(decide({ skipped: true }).mark, "Skipped:");
  assert.ok(decide({ skipped: true }).text.includes("gave one."));
});

test("only the right choice and the picked one are marked, once one is picked", () => {
  const marks = (answer, picked) => [0, 1, 2].map((index) => wordMark(index, answer, picked));
  assert.deepEqual(marks(1, -1), ["", "", ""]);
  assert.deepEqual(marks(1, 1), ["", "✓ your choice, and right", ""]);
  assert.deepEqual(marks(1, 2), ["", "✓ right", "✗ your choice"]);
});

test("what stands between backticks is code, unless one has no partner", () => {
  assert.deepEqual(splitCode("call `f`"), [
    { text: "call ", isCode: false },
    { text: "f", isCode: true },
    { text: "", isCode: false },
  ]);
  assert.deepEqual(splitCode("a ` b"), [{ text: "a ` b", isCode: false }]);
});
