// Which values travel at one step forward, from where and to where.

const RESULT_VERBS = ["returns", "yields"];

/**
 * Move the values of the step before from where they lay to where they went.
 *
 * `places`: where each value lay, by its key, and what was lit in the source.
 */
export function moveValues(motion, parts, before, places) {
  const change = parts.stack?.change();
  const row = before.code?.rows[before.row];
  if (!row || !change) {
    return;
  }
  const local = parts.locals?.findPlace(row.argument);
  const localPlace = local ? motion.measure(local) : null;
  const stored = row.opname.startsWith("STORE_FAST") ? localPlace : null;
  for (const { value } of change.gone) {
    const from = places.get(value.key);
    if (from && value.words !== "NULL") {
      const aside = { ...from, x: from.x + from.width + 10, width: 100 };
      motion.fly(from, stored ?? aside, value.words, true);
    }
  }
  const origin = findOrigin(row.opname, localPlace, places);
  for (const { value, block } of change.fresh) {
    const from = value.words === "NULL" ? null : origin;
    motion.arrive(block, from, value.words, before.taken > 0);
  }
}

/** Return where a loaded value comes from: its variable, what is lit in the source, or null. */
function findOrigin(opname, localPlace, places) {
  if (opname.startsWith("LOAD_FAST")) {
    return localPlace;
  }
  return opname.startsWith("LOAD_") ? places.get("lit") : null;
}

/** Move what a call returns or yields from the top of its stack to that of its caller. */
export function moveResultToCaller(motion, parts, before, now, places) {
  const value = before.stack?.at(-1);
  if (!value || !RESULT_VERBS.some((verb) => before.ending === `${verb} ${value.words}`)) {
    return;
  }
  const from = places.get(value.key);
  const block = parts.stack?.blocks.get(now.stack?.at(-1)?.key);
  if (from && block?.classList.contains("stage-fresh")) {
    motion.arrive(block, from, value.words, false);
  }
}
