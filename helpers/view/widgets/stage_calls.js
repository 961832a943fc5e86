// Calls as cards, the newest on top; generators that were put aside lie on a shelf.

const MOST_CARDS = 4;
const TALL_CARDS = 2; // so many at most have a second line, for their variables
const CARD = { low: 26, tall: 44 };

/** The calls below the one that runs, and the shelf: a strip under its stack. */
function deckPane(script) {
  const most = script.tracks.reduce((top, t) => Math.max(top, t.callers?.length ?? 0), 0);
  const aside = script.tracks.reduce((top, t) => Math.max(top, t.shelf?.length ?? 0), 0);
  const rows = Math.min(MOST_CARDS, Math.max(most, aside));
  const box = make("div", "stage-pane stage-deck", "");
  const [waiting, shelf] = [makePane("waiting", "Calls below"), makePane("shelf", "Shelf")];
  if (most) box.append(waiting.box);
  if (aside) box.append(shelf.box);
  const room = rows * (rows > TALL_CARDS ? CARD.low : CARD.tall);
  box.classList.toggle("stage-tall-cards", rows <= TALL_CARDS);
  for (const pane of [waiting, shelf]) pane.body.style.height = `${room}px`;
  const show = (now) => {
    fillDeck(waiting, [...now.callers].reverse(), "none: this is the first");
    fillDeck(shelf, now.shelf, "empty");
    waiting.aside.textContent = now.callers.length ? `${now.callers.length} waiting` : "";
    shelf.aside.textContent = now.shelf.length ? "frames put aside" : "";
  };
  return { box, show, height: most + aside ? room + 31 : 0 };
}

function fillDeck(pane, cards, none) {
  const shown = cards.length > MOST_CARDS ? MOST_CARDS - 1 : cards.length;
  const nodes = cards.slice(0, shown).map((card, n) => deckCard(card, n));
  const rest = cards.length - shown;
  if (rest) nodes.push(make("p", "stage-none", `and ${rest} more below`));
  if (!nodes.length) nodes.push(make("p", "stage-none", none));
  pane.body.replaceChildren(...nodes);
}

function deckCard(card, depth) {
  const node = make("div", "stage-card", "", { style: `--depth:${Math.min(depth, 4)}` });
  const names = card.names.map((pair) => pair.join(" = ")).join(", ");
  const kept = card.stack.length ? `keeps ${card.stack.join(", ")}` : "";
  const held = [names, kept].filter(Boolean).join(" · ");
  node.append(make("b", "", card.name), make("small", "", `line ${card.line}`), make("span", "", held || "no locals yet"));
  node.title = `${card.name}, call ${card.number}, ${card.state} at line ${card.line}${held && ` · ${held}`}`;
  return node;
}

/** All calls as large cards: where frames themselves are what is watched. */
function cardsPane(script) {
  const pane = makePane("cards", "Frames");
  const off = makePane("cards", "Shelf");
  const most = script.tracks.reduce((top, t) => Math.max(top, t.cards?.length ?? 0), 1);
  const aside = script.tracks.reduce((top, t) => Math.max(top, t.shelf?.length ?? 0), 0);
  const box = make("div", "stage-frames", "");
  box.append(pane.box);
  if (aside) box.append(off.box);
  const hands = script.tracks.some((t) => script.words[t.handed]);
  const height = `${Math.min(most, 5) * 62 + (hands ? 38 : 8)}px`;
  for (const one of [pane, off]) {
    one.body.style.height = height;
    one.body.classList.add("stage-pile");
  }
  makeScroll(pane.body, "Frames");
  const show = (now, moving) => {
    const was = new Map();
    for (const node of box.querySelectorAll(".stage-frame")) was.set(node.dataset.key, node.getBoundingClientRect());
    pile(pane, now.cards, moving && was, now.handed);
    pile(off, now.shelf, moving && was);
    pane.aside.textContent = "newest on top";
    off.aside.textContent = "kept by generators";
    pane.body.scrollTop = -pane.body.scrollHeight;
  };
  return { box, show };
}

/** Cards lie from the bottom up; one that stays is not made anew. What is handed down lies on its way. */
function pile(pane, cards, was, handed = "") {
  const arrived = [];
  const known = new Map([...pane.body.children].map((node) => [node.dataset.key, node]));
  const nodes = cards.map((card, n) => {
    const key = String(card.number);
    const node = known.get(key) ?? make("div", "stage-frame", "");
    const fresh = !known.has(key);
    node.dataset.key = key;
    fillFrame(node, card, n === cards.length - 1 && card.state !== "suspended");
    if (fresh) arrived.push(node);
    return node;
  });
  if (!nodes.length) nodes.push(make("p", "stage-none", "empty"));
  if (handed) {
    const value = handedDown(handed);
    nodes.splice(cards.at(-1)?.state === "leaving" ? -1 : nodes.length, 0, value);
    arrived.push(value);
  }
  pane.body.replaceChildren(...nodes.reverse());
  if (!was) return;
  for (const node of arrived) {
    const [from, to] = [was.get(node.dataset.key), node.getBoundingClientRect()];
    const way = from ? `translate(${from.left - to.left}px, ${from.top - to.top}px)` : "translateY(-24px)";
    node.animate([{ transform: way, opacity: from ? 1 : 0 }, { transform: "none", opacity: 1 }], { duration: MS });
  }
}

function handedDown(words) {
  const node = make("div", "stage-handed", "");
  node.append(make("small", "", "↓ handed down"), make("b", "", words));
  node.title = `${words}: on its way to the caller`;
  return node;
}

function fillFrame(node, card, top) {
  node.classList.toggle("stage-top", top);
  node.classList.toggle("stage-leaving", card.state.startsWith("leaving"));
  const head = make("div", "stage-frame-head", "");
  head.append(make("b", "", card.name), make("span", "", card.line ? `line ${card.line}` : ""), make("small", "", card.state));
  const names = make("div", "stage-frame-names", "");
  for (const [name, words] of card.names) {
    const pair = make("span", "stage-pair", "");
    pair.append(make("b", "", name), make("span", "", words));
    pair.title = `${name} = ${words}`;
    names.append(pair);
  }
  if (!card.names.length) names.append(make("small", "", "no locals yet"));
  node.replaceChildren(head, names);
}

function printedPane(script) {
  const pane = makePane("printed", "Printed so far");
  const lines = Math.min(4, script.printed.trimEnd().split("\n").length);
  const box = makeScroll(make("pre", "stage-output", "", { style: `height:${19 * lines + 10}px` }), "Printed so far");
  pane.body.append(box);
  const show = (now) => {
    const before = now.n ? script.step(now.n - 1).printed : "";
    const grown = now.printed.startsWith(before) ? before.length : now.printed.length;
    const fresh = now.printed.slice(grown);
    box.replaceChildren(now.printed.slice(0, grown));
    if (fresh) box.append(make("mark", "", fresh));
    if (!now.printed) box.append(make("span", "stage-none", "nothing yet"));
    box.scrollTop = box.scrollHeight;
    pane.aside.textContent = fresh ? "new: underlined" : "";
  };
  return { box: pane.box, show };
}
