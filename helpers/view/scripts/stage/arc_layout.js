// Where the arcs of jumps lie in the gutter of the instructions: their levels and their paths.

const GUTTER = 34; // pixels from the edge to the text of the instructions
const FIRST_LEVEL = 18; // pixels: where the arcs of the lowest level run
const LEVEL_WIDTH = 7;
const LEVELS = 3;
const ROW_SHIFT = 4; // pixels from the middle of the row that jumps: what arrives has the middle
const CURVE = 5; // pixels: the radius of a corner

/**
 * Return the jumps of these rows, each with its level; `crowded` ones have found no free level.
 *
 * Intervals are placed greedily, the shortest first: short jumps lie inside, longer ones around
 * them. A row that jumps has the row `to`; others have -1 there.
 */
export function layOutJumps(rows) {
  const jumps = rows.map(({ to }, from) => ({
    from,
    to,
    low: Math.min(from, to),
    high: Math.max(from, to),
  }));
  const found = jumps.filter(({ to }) => to >= 0);
  found.sort((a, b) => a.high - a.low - (b.high - b.low));
  const placed = [];
  return found.map((jump) => {
    const inside = placed.filter(({ low, high }) => low <= jump.high && high >= jump.low);
    const level = Math.max(0, ...inside.map((other) => other.level + 1));
    const crowded = level >= LEVELS;
    const laidOut = { ...jump, level: Math.min(LEVELS - 1, level), crowded };
    if (!crowded) {
      placed.push(laidOut);
    }
    return laidOut;
  });
}

/** Return the SVG path of an arc from a row to another one. */
export function makeArcPath(from, to, level, height) {
  const down = to > from;
  const start = (from + 0.5) * height + (down ? ROW_SHIFT : -ROW_SHIFT);
  const end = (to + 0.5) * height;
  const turn = down ? CURVE : -CURVE;
  const outer = leftOf(level);
  const inner = outer + CURVE;
  return (
    `M${GUTTER - 2} ${start}H${inner}Q${outer} ${start} ${outer} ${start + turn}` +
    `V${end - turn}Q${outer} ${end} ${inner} ${end}H${GUTTER - 6}`
  );
}

/** Return the SVG path of the tip at the row that an arc leads to. */
export function makeTipPath(to, height) {
  return `M${GUTTER} ${(to + 0.5) * height}l-7 -4v8z`;
}

/**
 * Return the way in which a jump leaves the rows `first` … `last` of a window: -1 for upwards,
 * 1 for downwards, 0 if it does not.
 */
export function findExit({ from, to }, first, last) {
  if (from < first || from > last) {
    return 0;
  }
  if (to < first) {
    return -1;
  }
  return to > last ? 1 : 0;
}

/** Return the SVG path of the arrow with which an arc leaves the window; "" for way 0. */
export function makeExitPath(way, level, edge) {
  return way ? `M${leftOf(level)} ${edge}l-4 ${-7 * way}h8z` : "";
}

function leftOf(level) {
  return FIRST_LEVEL - level * LEVEL_WIDTH;
}
