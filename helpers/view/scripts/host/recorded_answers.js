// What a kernel answered when the page was made, given again.

import { counts } from "../sandbox/calls.js";

/** Return `answer(message, state)` for a record; a widget without one is never answered. */
export function makeAnswers(record, state) {
  if (!record) {
    return () => null;
  }
  return record.unknown ? makeProgramAnswers(record, state) : makeSandboxAnswers(record.runs);
}

/** Answer for a sandbox: the call that is picked, and what came of it. */
function makeSandboxAnswers(runs) {
  let right = 0;
  let tries = 0;
  return (message, { picked, controls }) => {
    const counting = controls.filter((control) => counts(control, picked));
    const run = runs[counting.map(([name]) => picked[name]).join("|")];
    if (!message) {
      return { call: run.call };
    }
    const isRight = message.guess === run.verdict;
    tries += 1;
    if (isRight) {
      right += 1;
    }
    const values = { guess: message.guess, right, tries };
    const says = run.says.replace(/\{(guess|right|tries)\}/g, (_, name) => values[name]);
    const question = { of: message.picked, call: run.call, press: message.press };
    return { answer: { says, right: isRight, rows: run.rows, ...question } };
  };
}

/**
 * Answer for programs that ran once each, as `sources` has them now; lines that are changed later
 * were not run.
 */
function makeProgramAnswers({ runs, unknown }, { labels, sources }) {
  let number = 0;
  return (message) => {
    if (!message) {
      return null;
    }
    const asWritten = sources[labels.indexOf(message.label)] === message.source;
    const answer = asWritten ? runs[message.label] : { says: unknown, shown: "" };
    number += 1;
    return { answer: { ...answer, number } };
  };
}
