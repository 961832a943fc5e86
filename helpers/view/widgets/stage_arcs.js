// Jumps as arcs in the gutter of the instructions, at most three side by side.

const ARC = { first: 18, step: 7, levels: 3 };

/** Short jumps lie inside, longer ones around them; one that finds no place is drawn only when it is due. */
function jumpArcs(rows, height) {
  const svg = svgNode("svg", { class: "stage-arcs", width: 34, height: rows.length * height, "aria-hidden": "true" });
  const jumps = rows.map((row, from) => ({ from, to: row.to })).filter(({ to }) => to >= 0);
  jumps.sort((a, b) => Math.abs(a.from - a.to) - Math.abs(b.from - b.to));
  const placed = [];
  for (const jump of jumps) {
    const [low, high] = [Math.min(jump.from, jump.to), Math.max(jump.from, jump.to)];
    const inside = placed.filter((one) => one.low <= high && one.high >= low);
    const level = inside.reduce((most, one) => Math.max(most, one.level + 1), 0);
    const crowded = level >= ARC.levels;
    jump.level = Math.min(ARC.levels - 1, level);
    Object.assign(jump, { low, high });
    if (!crowded) placed.push(jump);
    jump.node = svgNode("g", { class: `stage-jump${crowded ? " stage-crowded" : ""}` }, svg);
    svgNode("path", { class: "stage-arc", d: arcPath(jump.from, jump.to, jump.level, height) }, jump.node);
    svgNode("path", { class: "stage-tip", d: `M34 ${(jump.to + 0.5) * height}l-7 -4v8z` }, jump.node);
    jump.exit = svgNode("path", { class: "stage-tip" }, jump.node);
  }
  return { svg, all: jumps };
}

const arcLeft = (level) => ARC.first - level * ARC.step;

function arcPath(from, to, level, height) {
  const down = to > from;
  const [y1, y2] = [(from + 0.5) * height + (down ? 4 : -4), (to + 0.5) * height];
  const [x, out, turn] = [28, arcLeft(level), down ? 5 : -5];
  return `M${x + 4} ${y1}H${out + 5}Q${out} ${y1} ${out} ${y1 + turn}V${y2 - turn}Q${out} ${y2} ${out + 5} ${y2}H${x}`;
}

/** Arcs from a row in the window to one outside it: an arrow at the edge. Returns their targets, above and below. */
function leaveWindow(jumps, height, first, last) {
  const targets = [new Set(), new Set()];
  for (const { from, to, level, exit, node } of jumps) {
    const seen = from >= first && from <= last;
    const way = !seen || (to >= first && to <= last) ? 0 : to < first ? -1 : 1;
    const edge = (way < 0 ? first : last + 1) * height;
    exit.setAttribute("d", way ? `M${arcLeft(level)} ${edge}l-4 ${-7 * way}h8z` : "");
    const drawn = !node.matches(".stage-crowded") || node.matches(".stage-taken, .stage-untaken");
    if (way && drawn) targets[way < 0 ? 0 : 1].add(to);
  }
  return targets.map((rows) => [...rows]);
}
