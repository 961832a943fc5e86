// A run on a stage: what is about to run, what it works on, and every step at once below.
// State: script (JSON, see widgets/stage_script.py), index (the step on show).

import { makeElement, makeStatus } from "./shared/elements.js";
import { save } from "./shared/kernel.js";
import { lightWords } from "./shared/lit_words.js";
import { prefersStillness } from "./shared/motion.js";
import { findQuestion } from "./stage/answers.js";
import { makeControls } from "./stage/controls.js";
import { makeLegend } from "./stage/legend.js";
import { makeMotion } from "./stage/motion.js";
import { makeParts } from "./stage/parts.js";
import { makeQuestion } from "./stage/question.js";
import { readScript } from "./stage/script.js";
import { describeStep, reserveHeight } from "./stage/status.js";
import { listenForKeys } from "./stage/step_keys.js";
import { makeStrip } from "./stage/strip.js";
import { moveResultToCaller, moveValues } from "./stage/value_travel.js";

const NAMES = Symbol.for("course.stage.names");
const STEPS_TO_ASK = 60; // the first ones, of which one must have a question

globalThis[NAMES] ??= new Set();
const claimedNames = globalThis[NAMES];

function render({ model, el }) {
  const script = readScript(model.get("script"));
  const name = claimName(script.title);
  const closing = new AbortController();
  const root = makeElement("div", "course-stage", "", { role: "group", "aria-label": name });
  el.append(root);
  const stop = play(script, model, root, closing.signal);
  return () => {
    stop();
    closing.abort();
    claimedNames.delete(name);
  };
}

/** Claim a name that no other stage on this page has: "title", "title (2)", … */
function claimName(title) {
  const wanted = title || "Stage";
  let name = wanted;
  for (let n = 2; claimedNames.has(name); n++) {
    name = `${wanted} (${n})`;
  }
  claimedNames.add(name);
  return name;
}

/** Build the stage in `root` and let it follow the model; return what stops it. */
function play(script, model, root, signal) {
  const { total } = script;
  const top = makeTop(script);
  root.append(top);
  if (!total) {
    return () => {};
  }
  let question = null;
  const clamp = (n) => Math.max(0, Math.min(total - 1, n));
  const at = () => clamp(model.get("index"));
  const moveTo = (index) => {
    question?.close();
    model.set("index", index);
    save(model);
  };
  /** Go to the step `choose(at)`; where predictions are on, the next one is asked for first. */
  const go = (choose) => {
    const index = clamp(choose(at()));
    const isAsked = index === at() + 1 && question?.ask(at());
    if (index !== at() && !isAsked) {
      moveTo(index);
    }
  };
  const { main, parts, over } = makeParts(script, go);
  question = hasQuestions(script) ? makeQuestion(script, over, moveTo, at) : null;
  const strip = makeStrip(script, go);
  const status = makeStatus("course-status stage-says");
  const remark = (text) => describeStep(status, script.step(at()), total, text);
  const controls = makeControls(script, go, question?.turn, parts.picture?.changes, remark);
  const legend = makeLegend(script);
  top.append(legend.button);
  root.append(main, legend.list, status, strip.box, controls.box);
  const motion = makeMotion(root);

  let drawn = -1; // the step on show
  const draw = () => {
    const n = at();
    drawParts(script, parts, motion, n, drawn);
    describeStep(status, script.step(n), total);
    strip.show(n, status.textContent);
    controls.show(n);
    parts.panels?.tidy();
    drawn = n;
  };
  const sizes = watchSizes(script, root, parts, status, at);
  model.on("change:index", draw);
  listenForKeys(root, go, signal);
  lightWords();
  draw();
  return () => {
    controls.stop();
    motion.stop();
    model.off("change:index", draw);
    sizes.disconnect();
  };
}

function makeTop({ title, note }) {
  const top = makeElement("div", "stage-top-row", "");
  if (title) {
    top.append(makeElement("div", "stage-title", title));
  }
  if (note) {
    top.append(makeElement("div", "stage-note", note));
  }
  return top;
}

function hasQuestions(script) {
  const first = script.tracks.slice(0, STEPS_TO_ASK);
  return script.total > 1 && first.some((_, n) => findQuestion(script, n));
}

/** Show step n in all parts; values travel where it follows the step `drawn`. */
function drawParts(script, parts, motion, n, drawn) {
  const now = script.step(n);
  const before = n ? script.step(n - 1) : null;
  const isStill = prefersStillness();
  const moving = drawn >= 0 && n === drawn + 1 && !isStill;
  motion.stop();
  const places = moving ? measureValues(parts, motion) : null;

  const moment = {
    now,
    before,
    last: script.before(n), // of the same call
    after: script.after(n),
    moving, // one step forward
    steady: Math.abs(n - drawn) === 1 && !isStill, // one step, either way
  };
  for (const part of Object.values(parts)) {
    part.show(moment);
  }
  if (moving && before.call === now.call) {
    moveValues(motion, parts, before, places);
  } else if (moving) {
    moveResultToCaller(motion, parts, before, now, places);
  }
}

/** Return where each value of the stack lies, by its key, and what is lit in the source. */
function measureValues(parts, motion) {
  const blocks = [...(parts.stack?.blocks ?? [])];
  const places = new Map(blocks.map(([key, block]) => [key, motion.measure(block)]));
  if (parts.source && !parts.source.lit.hidden) {
    places.set("lit", motion.measure(parts.source.lit));
  }
  return places;
}

function watchSizes(script, root, parts, status, at) {
  const sizes = new ResizeObserver(() => {
    parts.panels?.tidy();
    parts.source?.tidy(script.step(at()));
    reserveHeight(status, script);
  });
  sizes.observe(root);
  if (parts.source) {
    sizes.observe(parts.source.box); // its width changes where a prediction begins
  }
  return sizes;
}

export default { render };
