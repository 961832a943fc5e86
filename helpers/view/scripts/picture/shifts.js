// Rectangles in a window -> how far it must scroll to show them.

const MARGIN = 44; // px around what is brought into view: more than the faded edge has

/**
 * Return by how many pixels to scroll so that all rectangles are in the room, 0 if they are.
 *
 * If they do not fit, the `boxes` among them count: arrows may lead out of sight. `near` and `far`
 * name the edges: "left" and "right", or "top" and "bottom".
 */
export function findShift(room, rectangles, boxes, near, far) {
  const whole = findExtent(rectangles, near, far);
  const fits = whole.high - whole.low <= room[far] - room[near];
  const { low, high } = fits || !boxes.length ? whole : findExtent(boxes, near, far);
  if (low < room[near]) {
    return low - room[near] - MARGIN;
  }
  if (high > room[far]) {
    return Math.min(high - room[far] + MARGIN, low - room[near] - MARGIN);
  }
  return 0;
}

function findExtent(rectangles, near, far) {
  const low = Math.min(...rectangles.map((rectangle) => rectangle[near]));
  const high = Math.max(...rectangles.map((rectangle) => rectangle[far]));
  return { low, high };
}
