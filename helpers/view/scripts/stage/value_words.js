// How a value and its kind are called.

/** What the slot means that CPython calls NULL. */
export const NULL_MEANS = "NULL: an empty slot; a call of a method finds self there";

/** Return the name of a type, shorter where it is long or says little. */
export function shortenKind(kind) {
  return kind
    .replace("builtin_function_or_method", "builtin")
    .replace("NoneType", "None")
    .replace(/^type$/, "class");
}

/** Return the kind of a value, unless its words tell it, and the name of the same object. */
export function describeValue({ words, kind, same }) {
  const short = shortenKind(kind);
  const parts = [words.includes(short) ? "" : short, same && `is ${same}`];
  return parts.filter(Boolean).join(" · ");
}

/** Return what has become of a variable: "" where nothing has. */
export function describeChange(value, before) {
  if (value?.words === before?.words) {
    return value ? "" : "not set";
  }
  if (!value) {
    return `unset, was ${before.words}`;
  }
  return before ? `was ${before.words}` : "new";
}
