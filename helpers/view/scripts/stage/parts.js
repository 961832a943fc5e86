// A script -> the parts of its stage, in their columns.

import { makeElement } from "../shared/elements.js";
import { makeDeckPane } from "./deck.js";
import { makeFramesPane } from "./frames.js";
import { measureGutter } from "./instruction_list.js";
import { makeInstructionPane } from "./instructions.js";
import { makeLinks } from "./links.js";
import { makeLocalsPane } from "./locals.js";
import { countLetters } from "./opcodes.js";
import { makePanelPlaces } from "./panels.js";
import { makePicturePane } from "./picture_pane.js";
import { makePrintedPane } from "./printed.js";
import { makeSourcePane } from "./source.js";
import { makeStackPane } from "./stack.js";

const STAGE_HEIGHT = 290; // pixels of height for what stands side by side
const HEADING_HEIGHT = 36; // pixels
const LEAST_STACK = 110; // pixels
const STACK_BY_PICTURE = 132; // pixels: it stands below a source that is seen whole
const FIXED_WIDTH = 71; // pixels of a row of instructions beside its letters and its gutter
const LONG_LINE = 34; // letters; longer ones get more room and smaller letters

/** Return the parts that this script has something for, and the box `over` which a question lies. */
export function makeParts(script, go) {
  const links = makeLinks();
  const left = makeElement("div", "stage-left", "");
  const middle = makeElement("div", "stage-middle", "");
  const right = makeElement("div", "stage-right", "");
  const parts = {};
  const add = (name, column, part) => {
    parts[name] = part;
    column.append(part.box);
  };
  const has = (name) => script.tracks.some((step) => step[name]?.length);
  const isMachine = script.codes.length > 0;
  const deck = has("cards") ? null : makeDeckPane(script);
  const locals = isMachine ? makeLocalsPane(script) : null;

  if (script.lines.length) {
    add("source", left, makeSourcePane(script, go, links));
  }
  if (script.printed) {
    add("printed", left, makePrintedPane(script));
  }
  if (isMachine) {
    add("instructions", middle, makeInstructionPane(script, go, links, STAGE_HEIGHT));
  }
  if (script.tracks.some((step) => step.stack)) {
    const beside = script.picture ? left : middle;
    const rest = STAGE_HEIGHT - HEADING_HEIGHT - (locals?.height ?? 0) - (deck?.height ?? 0);
    add("stack", isMachine ? right : beside, makeStackPane(script, chooseStackRoom(script, rest)));
  }
  if (locals) {
    add("locals", right, locals);
  }
  if (has("cards")) {
    add("cards", right, makeFramesPane(script));
  }
  if (deck?.height) {
    add("deck", right, deck);
  }
  if (script.picture) {
    add("picture", right, makePicturePane(script));
  }
  if (has("panels")) {
    add("panels", right, makePanelPlaces(script));
  }
  const columns = [left, middle, right].filter((column) => column.children.length);
  const main = makeMain(script, columns);
  return { main, parts, over: columns.at(-1) ?? main };
}

function chooseStackRoom(script, rest) {
  const wanted = script.picture ? Math.min(STACK_BY_PICTURE, rest) : rest;
  return Math.max(LEAST_STACK, wanted);
}

function makeMain(script, columns) {
  const isMachine = script.codes.length > 0;
  const main = makeElement("div", "stage-main", "");
  main.append(...columns);
  main.classList.add(`stage-of-${columns.length}`, isMachine ? "stage-machine" : "stage-plain");
  const longest = Math.max(0, ...script.lines.map((line) => line.length));
  main.classList.toggle("stage-long-lines", longest > LONG_LINE);
  if (isMachine) {
    const gutters = script.codes.map((code) => measureGutter(code, script));
    const letters = script.codes.map((code) => countLetters(code.rows));
    main.style.setProperty("--fixed", `${Math.max(...gutters) + FIXED_WIDTH}px`);
    main.style.setProperty("--letters", Math.max(...letters));
  }
  return main;
}
