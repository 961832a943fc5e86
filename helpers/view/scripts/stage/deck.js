// The calls below the one that runs, and the shelf of generators, as small cards.

import { makeElement } from "../shared/elements.js";
import { makePane } from "./panes.js";

const MOST_CARDS = 4;
const TALL_CARDS = 2; // so many at most have a second line, for their variables
const CARD_HEIGHT = { low: 26, tall: 44 }; // pixels
const HEADING_HEIGHT = 31; // pixels, with the edges of the box
const DEEPEST = 4; // cards, by which one is indented

/** Return the calls below the one that runs, and the shelf: a strip under its stack. */
export function makeDeckPane(script) {
  const waiting = makePane("waiting", "Calls below");
  const shelf = makePane("shelf", "Shelf");
  const mostWaiting = Math.max(0, ...script.tracks.map((track) => track.callers?.length ?? 0));
  const mostOnShelf = Math.max(0, ...script.tracks.map((track) => track.shelf?.length ?? 0));
  const rows = Math.min(MOST_CARDS, Math.max(mostWaiting, mostOnShelf));
  const isTall = rows <= TALL_CARDS;
  const room = rows * (isTall ? CARD_HEIGHT.tall : CARD_HEIGHT.low);
  const box = makeElement("div", "stage-pane stage-deck", "");
  box.classList.toggle("stage-tall-cards", isTall);
  if (mostWaiting) {
    box.append(waiting.box);
  }
  if (mostOnShelf) {
    box.append(shelf.box);
  }
  for (const pane of [waiting, shelf]) {
    pane.body.style.height = `${room}px`;
  }
  const show = ({ now }) => {
    fillPane(waiting, [...now.callers].reverse(), "none: this is the first");
    fillPane(shelf, now.shelf, "empty");
    waiting.aside.textContent = now.callers.length ? `${now.callers.length} waiting` : "";
    shelf.aside.textContent = now.shelf.length ? "frames put aside" : "";
  };
  return { box, show, height: rows ? room + HEADING_HEIGHT : 0 };
}

function fillPane(pane, cards, none) {
  const shown = cards.length > MOST_CARDS ? MOST_CARDS - 1 : cards.length;
  const rest = cards.length - shown;
  pane.body.replaceChildren(...cards.slice(0, shown).map(drawCard));
  if (rest) {
    pane.body.append(makeElement("p", "stage-none", `and ${rest} more below`));
  }
  if (!cards.length) {
    pane.body.append(makeElement("p", "stage-none", none));
  }
}

function drawCard(card, depth) {
  const element = makeElement("div", "stage-card", "", {
    style: `--depth:${Math.min(depth, DEEPEST)}`,
  });
  const content = describeContent(card);
  const place = `${card.name}, call ${card.number}, ${card.state} at line ${card.line}`;
  element.append(
    makeElement("b", "", card.name),
    makeElement("small", "", `line ${card.line}`),
    makeElement("span", "", content || "no locals yet"),
  );
  element.title = content ? `${place} · ${content}` : place;
  return element;
}

/** Return the variables of a call, and what lies on its stack while it waits. */
function describeContent({ names, stack }) {
  const variables = names.map(([name, value]) => `${name} = ${value}`).join(", ");
  const values = stack.length ? `keeps ${stack.join(", ")}` : "";
  return [variables, values].filter(Boolean).join(" · ");
}
