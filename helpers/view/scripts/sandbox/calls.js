// Two calls in code -> what differs; choices -> which of them count.

/**
 * Return pieces of a call; `isNew` are those that are not as in the call before it.
 *
 * Calls that do not have as many pieces are too different for that.
 */
export function compareCalls(call, before) {
  const pieces = splitCall(call);
  const old = splitCall(before);
  const alike = pieces.length === old.length;
  return pieces.map((text, i) => ({ text, isNew: alike && text !== old[i] }));
}

/** Return whether a control has a say: always, or for some choices of the control `of`. */
export function counts([, , of, matters], picked) {
  return of === "" || matters.includes(picked[of]);
}

/** Return whether two sets of choices are the same in all controls that have a say. */
export function isSameChoice(controls, choices, picked) {
  const counting = controls.filter((control) => counts(control, picked));
  return counting.every(([name]) => choices[name] === picked[name]);
}

function splitCall(call) {
  return call.split(/([\w.'"]+)/);
}
