// The kinds of steps: their colours, the lines between them, and the steps that raise.

/** What the strip calls the line between two source lines. */
export const NEW_LINE = "│ new line";
/** The sign of a step that raises. */
export const RAISE_SIGN = "✕";

const MOST_RULED = 200; // steps; of more the source lines lie too close to be told apart
// kinds of step that are no kind of instruction -> the one whose colour they have
const COLOUR_OF = {
  return: "quiet",
  yield: "operate",
  resume: "load",
  exception: "jump",
  break: "jump",
  graph: "operate",
  stack: "load",
  "hand over": "call",
};

/** Return the steps that raise, where they are few enough to be marked. */
export function findRaises({ total, tracks, words }) {
  if (total >= MOST_RULED) {
    return [];
  }
  const steps = tracks.map((track, n) => ({ n, ending: words[track.ending] ?? "" }));
  return steps.filter(({ ending }) => ending.startsWith("raises")).map(({ n }) => n);
}

/** Return the steps with which another source line begins, where they are few enough to be ruled. */
export function findNewLines({ total, tracks }) {
  if (total >= MOST_RULED) {
    return [];
  }
  const steps = tracks.map((_, n) => n);
  return steps.filter((n) => n && tracks[n].line !== tracks[n - 1].line);
}

/** Return whether the strip of this script rules source lines, or would if there were several. */
export function canRule({ total, tracks }) {
  return total < MOST_RULED && tracks.some((track) => track.line);
}

/** Return the colour of a kind of step as CSS. */
export function colourLane(lane) {
  const name = (COLOUR_OF[lane] ?? lane).replaceAll(/\W/g, "-");
  return `var(--stage-${name}, var(--who-${name}, var(--who-quiet)))`;
}
