// An arrow that moves to its new end.

import { MOTION_MS } from "../shared/motion.js";

const SAMPLES = 32; // points of a line on its way

/** Move the arrow with the key `from` to the place of the one with the key `to`. */
export function moveArrow(picture, from, to) {
  const [oldArrow] = picture.parts.get(from);
  const [arrow, ...labelled] = picture.parts.get(to);
  const line = arrow.querySelector(".line");
  const head = arrow.querySelector(".head");
  const labels = labelled.flatMap((part) => [...part.querySelectorAll("text")]);
  const start = samplePath(oldArrow.querySelector(".line"));
  const end = samplePath(line);
  const finalPath = line.getAttribute("d");
  const finalHead = head.getAttribute("transform");
  const begun = performance.now();
  let frame = 0;

  const stop = () => {
    cancelAnimationFrame(frame);
    picture.moves.delete(to);
    line.setAttribute("d", finalPath);
    head.setAttribute("transform", finalHead);
    setOpacity(labels, "");
  };
  const draw = (now) => {
    const elapsed = Math.min(1, Math.max(0, (now - begun) / MOTION_MS));
    if (elapsed >= 1) {
      stop();
      return;
    }
    const points = interpolate(start, end, easeOut(elapsed));
    const tip = points.at(-1);
    line.setAttribute("d", joinPoints(points));
    head.setAttribute("transform", `translate(${(tip.x + 8).toFixed(1)} ${tip.y.toFixed(1)})`);
    frame = requestAnimationFrame(draw);
  };
  picture.moves.set(to, stop);
  setOpacity(labels, 0);
  draw(begun);
}

/** Return the points that lie between two lines of as many points; `share` 0 is the first line. */
export function interpolate(start, end, share) {
  return start.map(({ x, y }, i) => ({
    x: x + (end[i].x - x) * share,
    y: y + (end[i].y - y) * share,
  }));
}

/** Return how far a movement is that starts fast and ends slowly; both from 0 to 1. */
export function easeOut(elapsed) {
  return 1 - (1 - elapsed) ** 3;
}

/** Return the SVG path through these points. */
export function joinPoints(points) {
  return `M${points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
}

function samplePath(path) {
  const length = path.getTotalLength();
  const places = Array.from({ length: SAMPLES + 1 }, (_, i) => (length * i) / SAMPLES);
  return places.map((place) => path.getPointAtLength(place));
}

function setOpacity(labels, opacity) {
  for (const label of labels) {
    label.style.opacity = opacity;
  }
}
