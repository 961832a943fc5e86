// What scrolls sideways can be reached by the keyboard.

const BOXES = "pre, .book-scroll, .book-map";

/** Let the keyboard reach the boxes that scroll, whenever the page has another size. */
export function letReachScrolling() {
  new ResizeObserver(reachBoxes).observe(document.body);
}

function reachBoxes() {
  for (const box of document.querySelectorAll(BOXES)) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
    } else if (box.tabIndex === 0) {
      box.removeAttribute("tabindex");
    }
  }
}
