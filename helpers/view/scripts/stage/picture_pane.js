// A picture of all steps, of which each step shows its part.

import { mountPicture, showPicture } from "../picture/picture.js";
import { makeElement } from "../shared/elements.js";
import { makePane } from "./panes.js";

/** Return the pane of the picture: an arrow that turns moves, and what comes later is pale. */
export function makePicturePane(script) {
  const pane = makePane("drawn", script.picture.title);
  const host = makeElement("div", "", "");
  pane.body.append(host);
  const picture = mountPicture(host, script.picture.svg);
  const firstSteps = findFirstSteps(script);

  const show = ({ now, before, moving }) => {
    for (const [key, elements] of picture.parts) {
      for (const element of elements) {
        element.classList.toggle("course-ahead", firstSteps.get(key) > now.n);
      }
    }
    showPicture(picture, now.picture, before?.picture ?? {}, moving);
    const states = Object.values(now.picture);
    if (!states.some((state) => ["now", "new"].includes(state))) {
      followNext(picture, firstSteps, now.n);
    }
    pane.aside.textContent = states.length ? "" : "nothing yet: the pale ones come later";
  };
  return { box: pane.box, show, changes: picture.changes };
}

/** Return for each key of the picture the first step that shows it. */
function findFirstSteps(script) {
  const firstSteps = new Map();
  for (let n = script.total - 1; n >= 0; n--) {
    for (const key of Object.keys(script.step(n).picture)) {
      firstSteps.set(key, n);
    }
  }
  return firstSteps;
}

/** Bring into view the parts that come next. */
function followNext({ parts, pan }, firstSteps, n) {
  const soonest = Math.min(...[...firstSteps.values()].filter((first) => first > n));
  const keys = [...firstSteps.keys()].filter((key) => firstSteps.get(key) === soonest);
  if (keys.length) {
    pan.follow(keys.flatMap((key) => parts.get(key) ?? []));
  }
}
