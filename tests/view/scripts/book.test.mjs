import assert from "node:assert/strict";
import test from "node:test";

import {
  countFound,
  cutSnippet,
  splitFound,
  splitWords,
} from "../../../helpers/view/scripts/book/found_text.js";

test("names of Python are found whole and by their parts, each once", () => {
  assert.deepEqual(splitWords("torch._dynamo, torch"), ["torch", "_dynamo", "dynamo"]);
  assert.deepEqual(splitWords("co_code"), ["co_code", "co", "code"]);
});

test("what was found is marked as it is written, and signs are no patterns", () => {
  const pieces = splitFound("a.b and A.B, axb", ["a.b"]);
  const found = pieces.filter(({ isFound }) => isFound).map(({ text }) => text);
  assert.deepEqual(found, ["a.b", "A.B"]);
  assert.equal(pieces.map(({ text }) => text).join(""), "a.b and A.B, axb");
  assert.deepEqual(splitFound("a", []), [{ text: "a", isFound: false }]);
});

test("a snippet has what was found, and says where it was cut", () => {
  const text = `${"x ".repeat(100)}Guard${" y".repeat(200)}`;
  const snippet = cutSnippet(text, ["guard", "nowhere"]);
  assert.ok(snippet.includes("Guard"));
  assert.ok(snippet.startsWith("…") && snippet.endsWith("…"));
  assert.equal(snippet.length, 202);
  assert.equal(cutSnippet("short", ["nowhere"]), "short");
});

test("it is said how many were found and how many of them are shown", () => {
  assert.equal(countFound(0, 30), "0 sections found.");
  assert.equal(countFound(1, 30), "1 section found.");
  assert.equal(countFound(31, 30), "31 sections found; the first 30 are shown.");
});
