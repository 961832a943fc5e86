// Predict: what the next step will show is hidden until one of a few answers is chosen.

const MOST_ANSWERS = 4;
const MOST_DRAWN = 5; // values of a stack, from its top
const APART = "  |  ";

/** What a step can be asked for: the next stack, or else the words that the model gives for it. */
function answersAt(script, n) {
  if (n + 1 >= script.total) return null;
  const [now, next] = [script.step(n), script.step(n + 1)];
  if (now.stack && next.stack && now.call === next.call && now.code) return stackAnswers(now, next);
  // Where there is no stack, it is the sentence of the step that is to be foretold.
  const others = [];
  for (let d = 1; d < script.total && others.length < MOST_ANSWERS - 1; d++)
    for (const m of [n - d, n + d]) {
      const words = m >= 0 && m < script.total - 1 ? script.step(m).says : "";
      const known = words === now.says || others.some((other) => other.words === words);
      if (words && !known && others.length < MOST_ANSWERS - 1) others.push({ words, why: `that is what step ${m + 1} does` });
    }
  if (!now.says || !others.length) return null;
  const right = { words: now.says, why: "" };
  return { question: `What does this step do: ${now.short}?`, right, all: mixed([right, ...others], n) };
}

/** The next stack, and stacks that come of common mistakes, each with what speaks against it. */
function stackAnswers(now, next) {
  const [old, after] = [now.stack, next.stack].map((stack) => stack.map(({ words }) => words));
  const left = old.slice(0, old.length - now.taken);
  const fresh = after.slice(left.length);
  const does = [now.taken && `pops ${now.taken}`, fresh.length && `pushes ${fresh.length}`].filter(Boolean).join(", ") || "changes nothing here";
  const wrong = [
    [old, `it ${does}`],
    [left, "its result goes on top"],
    [[...old, ...fresh], `it pops ${now.taken} first`],
    [after.length > 1 ? [...after.slice(0, -2), after.at(-1), after.at(-2)] : after, "the value pushed last is on top"],
    [old.slice(0, -1), `it ${does}`],
    [[...after, after.at(-1) ?? "None"], `it ${does}, no more`],
  ];
  const all = new Map();
  for (const [stack, why] of [[after, `it ${does}`], ...wrong]) {
    const words = stack.join(APART) || "(empty)";
    if (!all.has(words) && all.size < MOST_ANSWERS) all.set(words, { words, stack, why });
  }
  const [right] = all.values();
  return { now: old, after: now, right, all: mixed([...all.values()], now.n) };
}

/** The same order each time, with the right one at no fixed place. */
function mixed(answers, seed) {
  const rank = ({ words }) => [...words].reduce((sum, c) => (sum * 31 + c.codePointAt(0)) % 9973, seed * 7 + 1);
  return [...answers].sort((a, b) => rank(a) - rank(b));
}

/** A small stack on its floor; all floors are at one height. */
function drawPile(stack) {
  const pile = make("div", "stage-heap", "", { "aria-hidden": "true" });
  const shown = stack.slice(-MOST_DRAWN).reverse();
  for (const words of shown) {
    const chip = make("div", words === "NULL" ? "stage-chip stage-null" : "stage-chip", words);
    chip.title = words;
    pile.append(chip);
  }
  if (stack.length > shown.length) pile.append(make("small", "", `+ ${stack.length - shown.length} below`));
  return pile;
}

/** The question's heading and the row of what can be chosen. */
function drawQuestion(asked, choose) {
  const row = make("div", asked.now ? "stage-piles" : "stage-answers", "");
  const head = make("p", "stage-asked", asked.question ?? "Value stack now, and after ");
  if (asked.now) {
    const { code, row: at } = asked.after;
    head.append(make("b", "stage-short", `${code.rows[at].opname} ${code.rows[at].argument}`.trim()), "?");
    const now = make("div", "stage-present", "");
    now.append(drawPile(asked.now), make("small", "", "now"), make("span", "stage-unseen", asked.now.join(APART) || "(empty)"));
    row.append(now);
  }
  asked.all.forEach((answer, n) => {
    const node = make("button", "stage-answer", "", { type: "button" });
    node.dataset.words = answer.words;
    if (answer.stack) node.append(drawPile(answer.stack), make("small", "", String(n + 1)), make("span", "stage-unseen", `bottom to top: ${answer.words}`));
    else node.append(make("span", "", answer.words), make("small", "", ""));
    node.addEventListener("click", () => choose(answer, row));
    row.append(node);
  });
  return [head, row];
}

function makeQuestion(script, over, go, at) {
  const box = make("div", "stage-question", "", { role: "group", "aria-label": "Your prediction" });
  box.hidden = true;
  over.append(box);
  let [open, on, right, wrong] = [false, false, 0, 0];
  const close = () => {
    box.hidden = true;
    open = false;
  };
  /** Ask about the step after n; false where there is nothing to be asked. */
  const ask = (n) => {
    const asked = on && !open ? answersAt(script, n) : null;
    if (!asked || asked.all.length < 2) return false;
    const drawn = drawQuestion(asked, (answer, row) => judge(n, answer, asked, row));
    box.replaceChildren(...drawn, make("p", "stage-verdict", "", { role: "status" }));
    box.hidden = false;
    open = true;
    box.querySelector("button").focus({ preventScroll: true });
    return true;
  };
  const judge = (n, answer, asked, row) => {
    const good = answer === asked.right;
    if (good) right++;
    else wrong++;
    for (const node of row.querySelectorAll("button")) {
      node.disabled = true;
      const one = asked.all.find(({ words }) => words === node.dataset.words);
      const note = node.querySelector("small");
      node.classList.toggle("is-right", one === asked.right);
      node.classList.toggle("is-wrong", one === answer && !good);
      if (one === asked.right) note.textContent = good ? `✓ right${one.why && `: ${one.why}`}` : "✓ this one";
      else if (one === answer) note.textContent = `✗ yours: ${one.why}`;
    }
    const next = make("button", "stage-button stage-go", "See it", { type: "button" });
    next.addEventListener("click", () => (close(), go(() => n + 1)));
    const told = good ? "" : `Not this one: ${answer.why}. `;
    box.lastChild.replaceChildren(make("span", "stage-unseen", told), `${right} of ${right + wrong} predicted. `, next);
    next.focus({ preventScroll: true });
  };
  const turn = (to) => {
    on = to;
    close();
    over.closest(".course-stage")?.classList.toggle("stage-predicting", to);
    if (on) ask(at());
  };
  return { ask, close, turn };
}
