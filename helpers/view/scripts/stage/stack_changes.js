// Two steps of one call -> which slots of the stack differ.

/** Return what the step before took, with its slot n: it stays as a ghost for one step. */
export function findPopped(now, before) {
  if (!before?.stack || before.n !== now.n - 1 || !now.stack) {
    return [];
  }
  const keys = keysOf(now.stack);
  const slots = before.stack.map((value, n) => ({ value, n }));
  return slots.filter(({ value }) => !keys.has(value.key));
}

/** Return the slots that a step fills: what lies there at its call's next step, and did not before. */
export function findPushedSlots(step, next) {
  if (!step?.stack || !next?.stack) {
    return [];
  }
  const keys = keysOf(step.stack);
  return next.stack.flatMap(({ key }, n) => (keys.has(key) ? [] : [n]));
}

function keysOf(stack) {
  return new Set(stack.map(({ key }) => key));
}
