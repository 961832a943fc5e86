// One step forward: operands travel out of the stack, results into it. New input ends all motion.

import { makeElement } from "../shared/elements.js";
import { MOTION_MS } from "../shared/motion.js";

const LATE = { delay: 110, duration: 140 }; // of what comes once something else has gone
const APPEAR_AT_END = [{ opacity: 0 }, { opacity: 0, offset: 0.95 }, { opacity: 1 }];
const DROP_IN = [
  { transform: "translateY(-26px)", opacity: 0 },
  { transform: "none", opacity: 1 },
];

/** Return what moves values over a stage, and `stop`, which ends all motion. */
export function makeMotion(root) {
  let running = [];
  const stop = () => {
    for (const animation of running) {
      animation.cancel();
    }
    running = [];
    for (const flight of root.querySelectorAll(".stage-flight")) {
      flight.remove();
    }
  };
  const animate = (element, frames, options = {}) => {
    const animation = element.animate(frames, {
      duration: MOTION_MS,
      easing: "cubic-bezier(.3,.1,.2,1)",
      fill: "backwards",
      ...options,
    });
    running.push(animation);
    return animation;
  };
  const measure = (element) => measureIn(root, element);
  /** Let a copy of a text fly from one place to another. */
  const fly = (from, to, text, fades) => {
    const flight = makeElement("div", "stage-flight", text, { "aria-hidden": "true" });
    flight.style.cssText = `left:${to.x}px;top:${to.y}px;width:${to.width}px;height:${to.height}px`;
    root.append(flight);
    const shift = `translate(${from.x - to.x}px,${from.y - to.y}px)`;
    const animation = animate(flight, [
      { transform: shift, width: `${from.width}px`, opacity: 1 },
      { transform: "none", opacity: fades ? 0 : 1 },
    ]);
    const remove = () => flight.remove();
    animation.onfinish = remove;
    animation.oncancel = remove;
  };
  /** Let a block appear: its text flies to it, or it drops in where it comes from nowhere. */
  const arrive = (block, from, text, isLate) => {
    if (from) {
      animate(block, APPEAR_AT_END);
      fly(from, measure(block), text, false);
    } else {
      animate(block, DROP_IN, isLate ? LATE : {});
    }
  };
  return { measure, stop, fly, arrive };
}

/** Return the place of an element in the coordinates of `root`. */
function measureIn(root, element) {
  const own = element.getBoundingClientRect();
  const outer = root.getBoundingClientRect();
  const scale = outer.width / root.offsetWidth || 1; // of a page that is enlarged, such as a slide
  return {
    x: (own.left - outer.left) / scale - root.clientLeft,
    y: (own.top - outer.top) / scale - root.clientTop,
    width: own.width / scale,
    height: own.height / scale,
  };
}
