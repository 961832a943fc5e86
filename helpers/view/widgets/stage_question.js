// Predict: what the next step will show is hidden until one of a few answers is chosen.

const MOST_ANSWERS = 4;

/** What a step can be asked for: the next stack, or else the words that the model gives for it. */
function answersAt(script, n) {
  if (n + 1 >= script.total) return null;
  const [now, next] = [script.step(n), script.step(n + 1)];
  if (now.stack && next.stack && now.call === next.call && now.code) return stackAnswers(now, next);
  // Where there is no stack, it is the sentence of the step that is to be foretold.
  const others = [];
  for (let d = 1; d < script.total && others.length < MOST_ANSWERS - 1; d++)
    for (const m of [n - d, n + d]) {
      const other = m >= 0 && m < script.total - 1 ? script.step(m).says : "";
      if (other && other !== now.says && !others.includes(other) && others.length < MOST_ANSWERS - 1) others.push(other);
    }
  if (!now.says || !others.length) return null;
  return { question: `What comes of it: ${now.short}?`, right: now.says, all: mixed([now.says, ...others], n) };
}

function stackAnswers(now, next) {
  const words = (stack) => stack.map((value) => value.words);
  const [old, right] = [words(now.stack), words(next.stack)];
  const left = old.slice(0, old.length - now.taken);
  const say = (stack) => (stack.length ? stack.join("  |  ") : "(empty)");
  const swapped = right.length > 1 ? [...right.slice(0, -2), right.at(-1), right.at(-2)] : right;
  const wrong = [old, left, [...old, ...right.slice(left.length)], swapped, old.slice(0, -1), [...right, right.at(-1) ?? "None"]];
  const all = [...new Set([right, ...wrong].map(say))].slice(0, MOST_ANSWERS);
  return { question: "What is on the stack after this? (bottom | … | top)", right: say(right), all: mixed(all, now.n) };
}

/** The same order each time, with the right one at no fixed place. */
function mixed(words, seed) {
  const rank = (text) => [...text].reduce((sum, c) => (sum * 31 + c.codePointAt(0)) % 9973, seed * 7 + 1);
  return [...words].sort((a, b) => rank(a) - rank(b));
}

function makeQuestion(script, over, go) {
  const box = make("div", "stage-question", "", { role: "group", "aria-label": "Your prediction" });
  box.hidden = true;
  over.append(box);
  let open = false;
  let on = false;
  let [right, wrong] = [0, 0];
  const close = () => {
    box.hidden = true;
    open = false;
  };
  /** Ask about the step after n; false where there is nothing to be asked. */
  const ask = (n) => {
    const asked = on && !open ? answersAt(script, n) : null;
    if (!asked || asked.all.length < 2) return false;
    const list = make("div", "stage-answers", "");
    asked.all.forEach((words) => {
      const node = make("button", "stage-answer", words, { type: "button" });
      node.addEventListener("click", () => judge(n, words, asked, list));
      list.append(node);
    });
    box.replaceChildren(make("p", "stage-asked", asked.question), list, make("p", "stage-verdict", "", { role: "status" }));
    box.hidden = false;
    open = true;
    list.firstChild.focus({ preventScroll: true });
    return true;
  };
  const judge = (n, words, asked, list) => {
    const good = words === asked.right;
    if (good) right++;
    else wrong++;
    for (const node of list.children) {
      node.disabled = true;
      const mine = node.textContent === words;
      const mark = node.textContent === asked.right ? (mine ? "✓ right: " : "✓ this: ") : mine ? "✗ you said: " : "";
      node.classList.toggle("is-right", node.textContent === asked.right);
      node.classList.toggle("is-wrong", mine && !good);
      if (mark) node.prepend(make("b", "", mark));
    }
    const next = make("button", "stage-button stage-go", "See it", { type: "button" });
    next.addEventListener("click", () => (close(), go(() => n + 1)));
    box.lastChild.replaceChildren(`${right} of ${right + wrong} foretold. `, next);
    next.focus({ preventScroll: true });
  };
  const turn = (to) => {
    on = to;
    close();
    over.closest(".course-stage")?.classList.toggle("stage-predicting", to);
  };
  return { ask, close, turn };
}
