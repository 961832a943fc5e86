// A picture that scrolls in its window -> the edges behind which there is more, faded.

const FADE = 36; // pixels

/** Return a mask as CSS: the window shows `room` pixels of a picture of this `width` from `start`. */
export function makeMask(start, room, width) {
  const end = start + room;
  const left = start > 1 ? start : -FADE;
  const right = end < width - 1 ? end : width + FADE;
  const stops = `black ${left + FADE}px ${right - FADE}px`;
  return `linear-gradient(90deg,transparent ${left}px,${stops},transparent ${right}px)`;
}
