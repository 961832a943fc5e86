// A step -> what can be asked about it, and the answers to choose from.

import { nameInstruction } from "./opcodes.js";

const MOST_ANSWERS = 4;
const APART = "  |  ";

/**
 * Return what a step can be asked for: the next stack, or else the sentence on the step; or null.
 *
 * A question has a `heading`, its `answers` and the `right` one of them; one for a stack also has
 * the `instruction` and the stack `present` before it.
 */
export function findQuestion(script, n) {
  if (n + 1 >= script.total) {
    return null;
  }
  const now = script.step(n);
  const next = script.step(n + 1);
  if (now.stack && next.stack && now.call === next.call && now.code) {
    return askForStack(now, next);
  }
  return askForSentence(script, now);
}

/** Return a stack in words, from bottom to top. */
export function joinStack(stack) {
  return stack.join(APART) || "(empty)";
}

/** Ask what a step does; the other answers are what the nearest steps do. */
function askForSentence(script, now) {
  const others = findOtherSentences(script, now);
  if (!now.says || !others.length) {
    return null;
  }
  const right = { words: now.says, why: "" };
  const heading = `What does this step do: ${now.short}?`;
  return { heading, right, answers: shuffle([right, ...others], now.n) };
}

function findOtherSentences(script, now) {
  const others = new Map();
  for (let distance = 1; distance < script.total; distance++) {
    for (const n of [now.n - distance, now.n + distance]) {
      const words = n >= 0 && n < script.total - 1 ? script.step(n).says : "";
      if (words && words !== now.says && !others.has(words)) {
        others.set(words, { words, why: `that is what step ${n + 1} does` });
      }
      if (others.size === MOST_ANSWERS - 1) {
        return [...others.values()];
      }
    }
  }
  return [...others.values()];
}

/** Ask for the next stack; the other answers come of common mistakes, with what speaks against them. */
function askForStack(now, next) {
  const present = now.stack.map(({ words }) => words);
  const after = next.stack.map(({ words }) => words);
  const answers = new Map();
  for (const { stack, why } of guessStacks(present, after, now.taken)) {
    const words = joinStack(stack);
    if (!answers.has(words) && answers.size < MOST_ANSWERS) {
      answers.set(words, { words, stack, why });
    }
  }
  const [right] = answers.values();
  return {
    heading: "Value stack now, and after ",
    instruction: nameInstruction(now.code.rows[now.row]),
    present,
    right,
    answers: shuffle([...answers.values()], now.n),
  };
}

/** Return the right stack, which is the first, and wrong ones; some can be the same. */
function guessStacks(present, after, taken) {
  const left = present.slice(0, present.length - taken);
  const pushed = after.slice(left.length);
  const does = describeEffect(taken, pushed.length);
  const swapped = [...after.slice(0, -2), ...after.slice(-2).reverse()];
  return [
    { stack: after, why: `it ${does}` },
    { stack: present, why: `it ${does}` },
    { stack: left, why: "its result goes on top" },
    { stack: [...present, ...pushed], why: `it pops ${taken} first` },
    { stack: swapped, why: "the value pushed last is on top" },
    { stack: present.slice(0, -1), why: `it ${does}` },
    { stack: [...after, after.at(-1) ?? "None"], why: `it ${does}, no more` },
  ];
}

function describeEffect(taken, pushed) {
  const parts = [taken && `pops ${taken}`, pushed && `pushes ${pushed}`];
  return parts.filter(Boolean).join(", ") || "changes nothing here";
}

/** Return the answers in an order that is the same each time, with the right one at no fixed place. */
function shuffle(answers, seed) {
  const addLetter = (sum, letter) => (sum * 31 + letter.codePointAt(0)) % 9973;
  const rank = ({ words }) => [...words].reduce(addLetter, seed * 7 + 1);
  return [...answers].sort((a, b) => rank(a) - rank(b));
}
