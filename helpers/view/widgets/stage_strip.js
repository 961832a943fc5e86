// All steps at once: a strip with a lane per kind of step; click or drag to go there.

const LANE = 11;
const MOST_RULED = 200; // steps; of more the source lines lie too close to be told apart
const NEW_LINE = "│ new line";
const RAISES = "✕";

function makeStrip(script, go) {
  const lanes = script.lanes;
  const total = script.total;
  const ruled = total < MOST_RULED && new Set(script.tracks.map((step) => step.line)).size > 1;
  const raised = total < MOST_RULED ? raises(script) : [];
  const height = Math.max(2, lanes.length + ruled + (raised.length > 0)) * LANE + 6;
  const box = make("div", "stage-strip-row", "", { style: `height:${height}px` });
  const labels = make("div", "stage-lanes", "", { "aria-hidden": "true" });
  lanes.forEach((lane) => {
    const label = make("div", "", "");
    label.append(make("i", "", "", { style: `background:${laneColour(lane)}` }), lane);
    labels.append(label);
  });
  if (ruled) labels.append(make("div", "", NEW_LINE));
  if (raised.length) labels.append(make("div", "", `${RAISES} raises`));
  const roll = make("div", "course-slider", "", {
    role: "slider", tabindex: "0", "aria-label": "Step", "aria-valuemin": 1, "aria-valuemax": total,
  });
  const svg = svgNode("svg", { viewBox: `0 0 ${total * 20} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" }, roll);
  lanes.forEach((_, n) => svgNode("line", { class: "stage-rule", x1: 0, x2: total * 20, y1: 9 + LANE * n, y2: 9 + LANE * n }, svg));
  const cursor = make("div", "stage-cursor", "", { style: `width:max(7px, ${100 / total}%)` });
  let line = null;
  const ticks = [];
  const paths = lanes.map(() => "");
  let folds = "";
  const room = total > 300 ? 1 : 4;
  script.tracks.forEach((step, n) => {
    if (line !== null && step.line !== line && ruled) ticks.push(`M${n * 20} 2V${height - 2}`);
    line = step.line;
    const x = n * 20 + room;
    if (step.lane >= 0) paths[step.lane] += `M${x} ${4 + LANE * step.lane}h${20 - 2 * room}v10h${2 * room - 20}z`;
    else folds += `M${x} 4h${20 - 2 * room}v${height - 8}h${2 * room - 20}z`;
  });
  svgNode("path", { class: "stage-rule", d: ticks.join("") }, svg);
  paths.forEach((d, n) => d && svgNode("path", { d, style: `fill:${laneColour(lanes[n])}` }, svg));
  if (folds) svgNode("path", { class: "stage-fold", d: folds }, svg);
  roll.prepend(cursor);
  raised.forEach((n) => roll.append(raiseMark(n, total)));
  box.append(labels, roll);

  const pick = (event) => {
    const place = roll.getBoundingClientRect();
    go(() => Math.floor(((event.clientX - place.left) / place.width) * total));
  };
  roll.addEventListener("pointerdown", (event) => (roll.setPointerCapture(event.pointerId), pick(event)));
  roll.addEventListener("pointermove", (event) => event.buttons && pick(event));
  const show = (n, words) => {
    cursor.style.left = `min(${(100 * n) / total}%, 100% - 7px)`;
    roll.setAttribute("aria-valuenow", n + 1);
    roll.setAttribute("aria-valuetext", words);
  };
  return { box, roll, show };
}

/** The steps that raise. */
const raises = (script) => script.tracks.flatMap((step, n) => ((script.words[step.ending] ?? "").startsWith("raises") ? [n] : []));

function raiseMark(n, total) {
  const node = make("span", "stage-raise", RAISES, { style: `left:${(100 * (n + 0.5)) / total}%`, "aria-hidden": "true" });
  node.title = "raises";
  return node;
}

// Kinds of step that are no kind of instruction, and whose colour they have.
const ALIKE = {
  return: "quiet", yield: "operate", resume: "load", exception: "jump", break: "jump",
  graph: "operate", stack: "load", "hand over": "call",
};
const laneColour = (lane) => {
  const name = (ALIKE[lane] ?? lane).replaceAll(/\W/g, "-");
  return `var(--stage-${name}, var(--who-${name}, var(--who-quiet)))`;
};
