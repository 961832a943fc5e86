// A picture of all steps at once (diagram/animated_graph.py), of which each step shows a part.
// Its parts bear data-key; a state says of each key that is there: shown, new, ghost (just gone)
// or now. The SVG comes escaped from our own Python view.

import { makeElement } from "../shared/elements.js";
import { prefersStillness } from "../shared/motion.js";
import { moveArrow } from "./arrow_motion.js";
import { describePart, findMovedArrows } from "./states.js";
import { makePannable } from "./window.js";
import { makeZoomBar } from "./zoom.js";

const LEAST_TEXT = 9.7; // px: what the smallest text of a picture may shrink to
const MANY_BOXES = 60; // a larger picture can be zoomed

/** Put a picture into `host`; return what `showPicture` needs. Nothing of it is shown yet. */
export function mountPicture(host, svg) {
  const view = makeElement("div", "course-picture-window", "");
  view.innerHTML = svg;
  host.classList.add("course-picture");
  host.replaceChildren(view);

  const drawing = view.querySelector("svg");
  const least = Math.round((LEAST_TEXT / drawing.dataset.smallest) * drawing.viewBox.baseVal.width);
  drawing.style.minWidth = `${least}px`;
  if (drawing.querySelectorAll(".box").length > MANY_BOXES) {
    host.append(makeZoomBar(drawing, least));
  }

  const title = drawing.querySelector("title");
  title.remove(); // it would cover the picture as a tooltip; the label says it
  return {
    drawing,
    title: title.textContent,
    parts: collectParts(drawing),
    slots: collectValues(drawing, "slot"), // key of an arrow -> what it is the arrow of
    changes: collectValues(drawing, "changes"), // key of a part -> the name that it comes or goes with
    pan: makePannable(view),
    moves: new Map(), // key of an arrow that moves -> what stops it
  };
}

/** Show one step; with `animate`, arrows that led elsewhere in the `previous` state move. */
export function showPicture(picture, state, previous = {}, animate = false) {
  for (const stop of [...picture.moves.values()]) {
    stop();
  }
  for (const [key, elements] of picture.parts) {
    for (const element of elements) {
      setState(element, state[key]);
    }
  }
  describePicture(picture, state);
  if (animate && !prefersStillness()) {
    for (const [from, to] of findMovedArrows(picture.slots, state, previous)) {
      moveArrow(picture, from, to);
    }
  }
  followFresh(picture, state);
}

function collectParts(drawing) {
  const parts = new Map();
  for (const element of drawing.querySelectorAll("[data-key]")) {
    const { key } = element.dataset;
    parts.set(key, [...(parts.get(key) ?? []), element]);
  }
  return parts;
}

function collectValues(drawing, name) {
  const elements = [...drawing.querySelectorAll(`[data-${name}]`)];
  return new Map(elements.map(({ dataset }) => [dataset.key, dataset[name]]));
}

function setState(element, state) {
  if (state) {
    element.setAttribute("data-state", state);
  } else {
    element.removeAttribute("data-state");
  }
}

function describePicture({ drawing, parts, title }, state) {
  const described = [...parts].map(([key, [element]]) =>
    describePart(element.dataset.words, state[key]),
  );
  const text = described.filter(Boolean).join("; ") || "nothing yet";
  drawing.setAttribute("aria-label", title ? `${title}: ${text}` : text);
}

/** Bring into view what is new, and where its arrows come from. */
function followFresh({ parts, pan }, state) {
  const keys = Object.keys(state).filter((key) => ["now", "new"].includes(state[key]));
  const fresh = keys.flatMap((key) => parts.get(key) ?? []);
  const origins = fresh.flatMap((element) => parts.get(element.dataset.from) ?? []);
  pan.follow([...fresh, ...origins]);
}
