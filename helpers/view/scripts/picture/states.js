// Two states of a picture -> what differs, and what a screen reader is told.

/** Return what a screen reader is told of one part; "" for one that is not there. */
export function describePart(text, state) {
  if (!isThere(state) || !text) {
    return "";
  }
  return state === "shown" ? text : `${state}: ${text}`;
}

/**
 * Yield pairs of keys: an arrow that was there, and the one that has come in its place.
 *
 * `slots`: key of an arrow -> what it is the arrow of.
 */
export function* findMovedArrows(slots, state, previous) {
  const gone = new Map();
  for (const [key, slot] of slots) {
    if (isThere(previous[key]) && !isThere(state[key])) {
      gone.set(slot, key);
    }
  }
  for (const [key, slot] of slots) {
    if (isThere(state[key]) && !isThere(previous[key]) && gone.has(slot)) {
      yield [gone.get(slot), key];
    }
  }
}

function isThere(state) {
  return Boolean(state) && state !== "ghost";
}
