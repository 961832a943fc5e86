// Marks on the stack: what was just taken, what is new, and where the next result goes.

/** What the step before took: it stays as a ghost for one step. */
function popped(now, before) {
  if (!before?.stack || before.n !== now.n - 1 || !now.stack) return [];
  const keys = new Set(now.stack.map(({ key }) => key));
  return before.stack.map((value, n) => ({ value, n })).filter(({ value }) => !keys.has(value.key));
}

/** The slots that one step of a call fills: what lies there at its next step, and did not before. */
function putBy(step, next) {
  if (!step?.stack || !next?.stack) return [];
  const keys = new Set(step.stack.map(({ key }) => key));
  return next.stack.flatMap(({ key }, n) => (keys.has(key) ? [] : [n]));
}

function markNew(block) {
  block.classList.add("stage-fresh");
  block.append(make("u", "stage-tag", "new"));
  block.title += ": just pushed";
}

/** Where the next result goes: an empty slot, or one whose value is taken first. */
function putsMark(over) {
  const mark = make("div", `stage-puts${over ? " stage-over-value" : ""}`, "", { "aria-hidden": "true" });
  mark.append(make("u", "stage-tag", over ? "+" : "+ pushes here"));
  mark.title = "the next result goes here";
  return mark;
}
