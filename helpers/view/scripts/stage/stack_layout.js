// The room of a stack -> how many slots it has, how large they are, and which are seen.

const SLOT = { least: 20, most: 34, gap: 4 }; // pixels
const HEAD = 18; // pixels above the highest slot
const FOOT = 10; // pixels below the lowest slot: for the mark on its edge
const COUNTING_FOOT = 17; // pixels below it where the slots that are not seen are counted

/**
 * Return the layout of a stack in `room` pixels: `slots`, the `size` of one and its `pitch` (with
 * the gap), how many are `visible`, the pixels at the `foot`, and the `height` of all.
 *
 * `deepest` slots are needed at some step; `allowed` ones are shown if there is room for them.
 */
export function layOutStack(room, deepest, allowed) {
  const roomForSlots = room - HEAD - FOOT;
  const slots = allowed * (SLOT.least + SLOT.gap) <= roomForSlots ? allowed : deepest;
  const fitting = Math.floor(roomForSlots / slots) - SLOT.gap;
  const size = Math.max(SLOT.least, Math.min(SLOT.most, fitting));
  const pitch = size + SLOT.gap;
  const isCut = slots * pitch > roomForSlots;
  const visible = isCut ? Math.max(1, Math.floor((room - HEAD - COUNTING_FOOT) / pitch)) : slots;
  const foot = slots > visible ? COUNTING_FOOT : FOOT;
  const height = Math.min(slots, visible) * pitch + HEAD + foot;
  return { slots, size, pitch, visible, foot, height };
}

/** Return how many slots lie below what is seen, so that the highest one in use is seen. */
export function countHidden(depth, pushed, visible) {
  const highest = Math.max(depth, ...pushed.map((slot) => slot + 1));
  return Math.max(0, highest - visible);
}
