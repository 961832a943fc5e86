// All calls as large cards, the newest on top; generators that were put aside lie on a shelf.

import { makeElement } from "../shared/elements.js";
import { MOTION_MS } from "../shared/motion.js";
import { makePane, makeScroll } from "./panes.js";

const MOST_CARDS = 5; // of more the box scrolls
const CARD_HEIGHT = 62; // pixels
const EDGE = 8; // pixels
const HANDED_HEIGHT = 38; // pixels for a value on its way, with the edge

/** Return all calls as large cards: where frames themselves are what is watched. */
export function makeFramesPane(script) {
  const stack = makePane("cards", "Frames");
  const shelf = makePane("cards", "Shelf");
  const box = makeElement("div", "stage-frames", "");
  box.append(stack.box);
  if (script.tracks.some((track) => track.shelf?.length)) {
    box.append(shelf.box);
  }
  const most = Math.max(1, ...script.tracks.map((track) => track.cards?.length ?? 0));
  const handsDown = script.tracks.some((track) => script.words[track.handed]);
  const rest = handsDown ? HANDED_HEIGHT : EDGE;
  for (const pane of [stack, shelf]) {
    pane.body.style.height = `${Math.min(most, MOST_CARDS) * CARD_HEIGHT + rest}px`;
    pane.body.classList.add("stage-pile");
  }
  makeScroll(stack.body, "Frames");
  stack.aside.textContent = "newest on top";
  shelf.aside.textContent = "kept by generators";

  const show = ({ now, steady }) => {
    const places = measureCards(box);
    const arrived = [...fillPile(stack, now.cards, now.handed), ...fillPile(shelf, now.shelf)];
    if (steady) {
      for (const card of arrived) {
        letArrive(card, places.get(card.dataset.key));
      }
    }
    stack.body.scrollTop = -stack.body.scrollHeight;
  };
  return { box, show };
}

function measureCards(box) {
  const cards = [...box.querySelectorAll(".stage-frame")];
  return new Map(cards.map((card) => [card.dataset.key, card.getBoundingClientRect()]));
}

/**
 * Pile the cards from the bottom up, and return those that came; one that stays is not made anew.
 *
 * A value that is `handed` down lies on its way.
 */
function fillPile(pane, cards, handed = "") {
  const known = new Map([...pane.body.children].map((child) => [child.dataset.key, child]));
  const arrived = [];
  const pile = cards.map((card, n) => {
    const key = String(card.number);
    const element = known.get(key) ?? makeElement("div", "stage-frame", "");
    element.dataset.key = key;
    fillCard(element, card, n === cards.length - 1 && card.state !== "suspended");
    if (!known.has(key)) {
      arrived.push(element);
    }
    return element;
  });
  if (!pile.length) {
    pile.push(makeElement("p", "stage-none", "empty"));
  }
  if (handed) {
    const value = drawHandedDown(handed);
    const isBelowTop = cards.at(-1)?.state === "leaving";
    pile.splice(isBelowTop ? -1 : pile.length, 0, value);
    arrived.push(value);
  }
  pane.body.replaceChildren(...pile.reverse());
  return arrived;
}

/** Move a card from where it lay; one that lay nowhere drops in. */
function letArrive(card, from) {
  const to = card.getBoundingClientRect();
  const start = from
    ? { transform: `translate(${from.left - to.left}px, ${from.top - to.top}px)`, opacity: 1 }
    : { transform: "translateY(-24px)", opacity: 0 };
  card.animate([start, { transform: "none", opacity: 1 }], { duration: MOTION_MS });
}

function drawHandedDown(words) {
  const element = makeElement("div", "stage-handed", "");
  element.append(makeElement("small", "", "↓ handed down"), makeElement("b", "", words));
  element.title = `${words}: on its way to the caller`;
  return element;
}

function fillCard(element, card, isTop) {
  element.classList.toggle("stage-top", isTop);
  element.classList.toggle("stage-leaving", card.state.startsWith("leaving"));
  const head = makeElement("div", "stage-frame-head", "");
  head.append(
    makeElement("b", "", card.name),
    makeElement("span", "", card.line ? `line ${card.line}` : ""),
    makeElement("small", "", card.state),
  );
  const variables = makeElement("div", "stage-frame-names", "");
  for (const [name, words] of card.names) {
    const pair = makeElement("span", "stage-pair", "");
    pair.append(makeElement("b", "", name), makeElement("span", "", words));
    pair.title = `${name} = ${words}`;
    variables.append(pair);
  }
  if (!card.names.length) {
    variables.append(makeElement("small", "", "no locals yet"));
  }
  element.replaceChildren(head, variables);
}
