// A script -> the paths of the strip of all steps.

const STEP_WIDTH = 20; // units of the drawing, which is stretched to the width of the strip
const LANE_HEIGHT = 11;
const TOP = 4;
const MARK_HEIGHT = 10;
const EDGES = 6;
const LEAST_LANES = 2;
const MANY_STEPS = 300; // of which each is narrow
const GAP = { many: 1, few: 4 }; // at each side of a step

/** Return the height of a strip with so many lanes. */
export function measureStrip(lanes) {
  return Math.max(LEAST_LANES, lanes) * LANE_HEIGHT + EDGES;
}

/**
 * Return what is drawn: its `width`, the places `middles` of the lanes' rules, a path for the marks
 * of each lane (`marks`), and paths of `folds`, which stand for steps of any kind, and of `ticks`.
 */
export function layOutStrip({ total, tracks, lanes }, newLines, height) {
  const gap = total > MANY_STEPS ? GAP.many : GAP.few;
  const width = STEP_WIDTH - 2 * gap;
  const marks = lanes.map(() => "");
  let folds = "";
  tracks.forEach(({ lane }, n) => {
    const x = n * STEP_WIDTH + gap;
    if (lane >= 0) {
      marks[lane] += `M${x} ${TOP + LANE_HEIGHT * lane}h${width}v${MARK_HEIGHT}h${-width}z`;
    } else {
      folds += `M${x} ${TOP}h${width}v${height - 2 * TOP}h${-width}z`;
    }
  });
  const ticks = newLines.map((n) => `M${n * STEP_WIDTH} 2V${height - 2}`).join("");
  const middles = lanes.map((_, n) => TOP + MARK_HEIGHT / 2 + LANE_HEIGHT * n);
  return { width: total * STEP_WIDTH, middles, marks, folds, ticks };
}
