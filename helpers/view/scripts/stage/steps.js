// A script -> which step to go to.

/** What a run to the next change calls the output of the program. */
export const OUTPUT = "the output";

/** Return the step, from 1, that is nearest to a number; for what is no number, the current one. */
export function clampStep(typed, current, total) {
  return Number.isNaN(typed) ? current : Math.max(1, Math.min(total, Math.round(typed)));
}

/** Return the first step after `at` that has these words, or one before it, or -1. */
export function findText(script, text, at) {
  const wanted = text.toLowerCase();
  for (let distance = 1; distance <= script.total; distance++) {
    const n = (at + distance) % script.total;
    if (wordsOf(script.step(n)).includes(wanted)) {
      return n;
    }
  }
  return -1;
}

/** Return the first step after `at` for which `isWanted(track)`, or else the first of all, or -1. */
export function findNextTrack({ tracks }, isWanted, at) {
  const later = tracks.findIndex((track, n) => n > at && isWanted(track));
  return later >= 0 ? later : tracks.findIndex(isWanted);
}

/** Return the next step at which something has changed (see `hasChanged`), or -1. */
export function findNextChange(script, name, at, changes) {
  for (let n = at + 1; n < script.total; n++) {
    if (hasChanged(script, name, n, changes)) {
      return n;
    }
  }
  return -1;
}

/**
 * Return whether step n is the first one after a change.
 *
 * What changes is the output, a part of the picture (`changes`: its key -> the name) that comes or
 * goes, or a variable.
 */
export function hasChanged(script, name, n, changes = new Map()) {
  if (!n) {
    return false;
  }
  const now = script.step(n);
  if (name === OUTPUT) {
    return now.printed !== script.step(n - 1).printed;
  }
  const keys = [...changes.keys()].filter((key) => changes.get(key) === name);
  return (
    keys.some((key) => ["new", "ghost"].includes(now.picture[key])) ||
    hasNewValue(name, now, script.before(n))
  );
}

function hasNewValue(name, now, before) {
  const slot = now.code?.names.indexOf(name) ?? -1;
  if (slot < 0 || !now.locals || !before) {
    return false;
  }
  return now.locals[slot]?.words !== before.locals?.[slot]?.words;
}

function wordsOf({ label, says, stack }) {
  const values = (stack ?? []).map(({ words }) => words);
  return `${label} ${says} ${values.join(" ")}`.toLowerCase();
}
