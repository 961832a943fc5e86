// How long a movement takes, and whether the reader wants any.

/** Milliseconds that a movement on the stage takes. */
export const MOTION_MS = 250;

/** Return whether the reader's system asks for less motion. */
export function prefersStillness() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
