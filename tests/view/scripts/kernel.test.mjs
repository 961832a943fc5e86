import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { request } from "../../../helpers/view/scripts/shared/kernel.js";

/** Return a widget's model and what its kernel was asked; `answers` has a promise per question. */
function makeModel(answers) {
  const asked = [];
  const kernel = {
    requestCommInfo: () => {
      asked.push("known?");
      return answers[asked.length - 1] ?? new Promise(() => {});
    },
  };
  const manager = { kernel };
  return { asked, get: () => "an-id", send: () => {}, widget_manager: manager };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const lost = new Promise(() => {});
const knowsNothing = Promise.resolve({ content: { comms: {} } });
const knowsIt = Promise.resolve({ content: { comms: { "an-id": {} } } });

test("a question that a restarting kernel lost is asked again, and 'gone' is reported once", async () => {
  mock.timers.enable({ apis: ["setInterval"] });
  const reports = [];
  const model = makeModel([lost, knowsNothing, knowsNothing]);
  request(model, {}, 100, (kind) => reports.push(kind));
  mock.timers.tick(100);
  await settle();
  mock.timers.tick(300);
  await settle();
  assert.deepEqual(reports, ["late", "gone"]);
  assert.equal(model.asked.length, 2);
  mock.timers.reset();
});

test("a busy kernel that knows the widget is late, once, and never gone", async () => {
  mock.timers.enable({ apis: ["setInterval"] });
  const reports = [];
  const stop = request(makeModel([lost, knowsIt, knowsIt]), {}, 100, (kind) => reports.push(kind));
  mock.timers.tick(300);
  await settle();
  stop();
  mock.timers.tick(300);
  await settle();
  assert.deepEqual(reports, ["late"]);
  mock.timers.reset();
});
