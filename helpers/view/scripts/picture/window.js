// The window of a picture: it fades at its edges, can be dragged, and follows what is new.

import { setAttributes } from "../shared/elements.js";
import { findShift } from "./shifts.js";

const FRESH_BOX = '.box[data-state="new"], .box[data-state="now"]';
const WHEN_LARGER = {
  tabindex: "0",
  role: "group",
  "aria-label": "Picture, larger than its window",
};

/** Make a window that scrolls; return `follow`, which brings elements of the picture into view. */
export function makePannable(view) {
  let followed = [];
  const follow = (elements) => {
    followed = elements;
    showEdges(view);
    if (isLarger(view)) {
      bringIntoView(view, elements);
    }
  };
  letDrag(view);
  view.addEventListener("scroll", () => showEdges(view), { passive: true });
  // the first step is shown before the window has a size
  new ResizeObserver(() => follow(followed)).observe(view);
  return { follow };
}

function isLarger(view) {
  return view.classList.contains("course-drags");
}

/** Fade the edges behind which there is more; a picture that is larger can have the focus. */
function showEdges(view) {
  const right = view.scrollWidth - view.clientWidth;
  const bottom = view.scrollHeight - view.clientHeight;
  view.classList.toggle("course-more-left", view.scrollLeft > 1);
  view.classList.toggle("course-more-right", view.scrollLeft < right - 1);
  view.classList.toggle("course-more-top", view.scrollTop > 1);
  view.classList.toggle("course-more-bottom", view.scrollTop < bottom - 1);

  const larger = right > 1 || bottom > 1;
  view.classList.toggle("course-drags", larger);
  if (larger) {
    setAttributes(view, WHEN_LARGER);
    return;
  }
  for (const name of Object.keys(WHEN_LARGER)) {
    view.removeAttribute(name);
  }
}

function letDrag(view) {
  let grip = null; // the place of the picture that the pointer holds
  const release = () => {
    grip = null;
  };
  view.addEventListener("pointerdown", (event) => {
    const onText = event.target.closest("text"); // which can be selected
    if (event.button !== 0 || event.pointerType === "touch" || onText || !isLarger(view)) {
      return;
    }
    grip = { x: event.clientX + view.scrollLeft, y: event.clientY + view.scrollTop };
    view.setPointerCapture(event.pointerId);
  });
  view.addEventListener("pointermove", (event) => {
    if (grip) {
      view.scrollTo(grip.x - event.clientX, grip.y - event.clientY);
    }
  });
  view.addEventListener("pointerup", release);
  view.addEventListener("pointercancel", release);
}

function bringIntoView(view, elements) {
  const all = findRectangles(elements);
  const boxes = findRectangles(elements.filter((element) => element.matches(FRESH_BOX)));
  if (all.length) {
    const room = view.getBoundingClientRect();
    view.scrollBy({
      left: findShift(room, all, boxes, "left", "right"),
      top: findShift(room, all, boxes, "top", "bottom"),
    });
  }
}

function findRectangles(elements) {
  const rectangles = elements.map((element) => element.getBoundingClientRect());
  return rectangles.filter(({ width }) => width);
}
