// The parts of a stage: a box with a heading, and what scrolls in it.

import { makeElement, setAttributes } from "../shared/elements.js";
import { prefersStillness } from "../shared/motion.js";

const WIDEST_EDGE = 60; // pixels of a scrolling box in which nothing of interest should lie

/** Return a part of the stage with a heading; what stands at the heading's right can change. */
export function makePane(name, title) {
  // no `section` element: on a page of slides each of those is a slide
  const box = makeElement("div", `stage-pane stage-${name}`, "", {
    role: "region",
    "aria-label": title,
  });
  const head = makeElement("div", "stage-head", "");
  const aside = makeElement("span", "stage-aside", "");
  head.append(makeElement("span", "stage-name", title), aside);
  const body = makeElement("div", "stage-body", "");
  box.append(head, body);
  return { box, body, aside };
}

/** Let what may scroll be reached by the keyboard, and keep the arrow keys for itself. */
export function makeScroll(box, label) {
  setAttributes(box, { tabindex: "0", role: "group", "aria-label": label });
  box.classList.add("course-scrolls");
  return box;
}

/** Bring `top` … `top + height` of a scrolling box into its middle part. */
export function follow(box, top, height, atOnce) {
  const room = box.clientHeight;
  const edge = Math.min(room / 4, WIDEST_EDGE);
  const isInside = top >= box.scrollTop + edge && top + height <= box.scrollTop + room - edge;
  if (!isInside) {
    const middle = Math.max(0, top + height / 2 - room / 2);
    const behavior = atOnce || prefersStillness() ? "instant" : "smooth";
    box.scrollTo({ top: middle, behavior });
  }
}
