// What a search has found -> the text that shows it.

const ROOM = 200; // characters of a snippet
const BEFORE = 50; // characters of a snippet before what was found

/** Return the parts by which a text is found: names of Python whole, and split at underscores. */
export function splitWords(text) {
  const words = text.split(/[^\p{L}\p{N}_]+/u);
  const parts = words.flatMap((word) => [word, ...word.split("_")]);
  return [...new Set(parts)].filter(Boolean);
}

/** Return pieces of a text, and whether each is one of the terms (`isFound`). */
export function splitFound(text, terms) {
  const escaped = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!escaped.length) {
    return [{ text, isFound: false }];
  }
  const pieces = text.split(new RegExp(`(${escaped.join("|")})`, "gi"));
  return pieces.map((piece, i) => ({ text: piece, isFound: i % 2 === 1 }));
}

/** Return the piece of a text around the first of the terms, or its beginning. */
export function cutSnippet(text, terms) {
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term.toLowerCase())).filter((at) => at >= 0);
  const start = places.length ? Math.max(0, Math.min(...places) - BEFORE) : 0;
  const end = start + ROOM;
  return `${start ? "…" : ""}${text.slice(start, end)}${text.length > end ? "…" : ""}`;
}

/** Return the sentence on how many sections were found; the first `most` of them are shown. */
export function countFound(number, most) {
  const sections = number === 1 ? "1 section" : `${number} sections`;
  return number > most ? `${sections} found; the first ${most} are shown.` : `${sections} found.`;
}
