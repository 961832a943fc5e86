// Panels of any other kind: their HTML comes escaped from our own views, each different one once.

import { makeElement } from "../shared/elements.js";
import { collectContents, makePlaceFinder } from "./panel_places.js";
import { makeScroll } from "./panes.js";

const MOST_GHOSTS = 8; // hidden panels per place that hold its height, the longest first

/** Return the places of the panels: each keeps the room of its largest content, so nothing jumps. */
export function makePanelPlaces(script) {
  const pool = script.panels;
  const findPlace = makePlaceFinder(script.tracks);
  const box = makeScroll(makeElement("div", "stage-pane stage-panels", ""), "What each step shows");
  const places = new Map(); // name -> place
  for (const [name, contents] of collectContents(script.tracks, findPlace)) {
    const place = makePlace([...contents], pool);
    places.set(name, place);
    box.append(place.box);
  }
  const nothing = makeElement("p", "stage-none stage-why", "");
  box.append(nothing);

  const show = ({ now }) => {
    const absent = new Set(places.keys());
    now.panels.forEach(([title, content], position) => {
      const name = findPlace(title, position);
      absent.delete(name);
      fillPlace(places.get(name), title, content, pool);
    });
    for (const [name, place] of places) {
      place.box.classList.toggle("stage-absent", absent.has(name));
    }
    const isEmpty = !now.panels.length && !script.picture;
    nothing.textContent = isEmpty ? "nothing to show at this step" : "";
  };
  const tidy = () => {
    for (const { stack } of places.values()) {
      letReach(stack);
    }
  };
  return { box, show, tidy };
}

function makePlace(contents, pool) {
  const box = makeElement("div", "stage-panel", "");
  const head = makeElement("div", "stage-head", "");
  const heading = makeElement("span", "stage-name", "");
  const stack = makeElement("div", "stage-over", "");
  const shown = makeElement("div", "stage-shown", "");
  const longest = [...contents].sort((a, b) => pool[b].length - pool[a].length);
  const ghosts = longest.slice(0, MOST_GHOSTS);
  head.append(heading);
  stack.append(...ghosts.map((content) => makeGhost(pool[content])), shown);
  box.append(head, stack);
  return { box, heading, stack, shown, content: -1, reserved: new Set(ghosts) };
}

/** Return a hidden panel, which holds the room for one that is shown later. */
function makeGhost(html) {
  const ghost = makeElement("div", "stage-ghost", "", { "aria-hidden": "true" });
  ghost.innerHTML = html;
  return ghost;
}

function fillPlace(place, title, content, pool) {
  place.heading.textContent = title;
  if (place.content === content) {
    return;
  }
  const isOpen = place.shown.querySelector("details")?.open ?? false;
  const before = place.stack.offsetHeight;
  place.shown.innerHTML = pool[content];
  place.content = content;
  for (const details of place.shown.querySelectorAll("details")) {
    details.open = isOpen;
  }
  if (place.stack.offsetHeight > before && before && !place.reserved.has(content)) {
    place.reserved.add(content); // taller than was reserved for: keep this room from now on
    place.stack.prepend(makeGhost(pool[content]));
  }
}

/** Let what scrolls sideways be reached by the keyboard. */
function letReach(stack) {
  if (stack.scrollWidth > stack.clientWidth + 1) {
    stack.setAttribute("tabindex", "0");
  } else {
    stack.removeAttribute("tabindex");
  }
}
