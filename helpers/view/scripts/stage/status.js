// One sentence on the step, in room for the longest of them.

import { makeElement } from "../shared/elements.js";
import { nameInstruction } from "./opcodes.js";

const LEAST_HEIGHT = 30; // pixels
const MOST_PROBED = 4; // the longest sentences, whose heights are measured

/**
 * Fill `status` with one sentence on the step.
 *
 * The number of the step is for who does not see the strip, unless a remark names it.
 */
export function describeStep(status, step, total, remark = "") {
  const row = step.code?.rows[step.row];
  const short = row ? nameInstruction(row) : step.short;
  const number = remark
    ? makeElement("span", "", `${remark} `)
    : makeElement("span", "stage-unseen", `Step ${step.n + 1} of ${total}: `);
  status.replaceChildren(number, makeElement("b", "stage-short", short));
  if (step.says) {
    status.append(" ", makeElement("span", "stage-tells", step.says));
  }
}

/** Make `status` as high as the longest sentence needs, so that nothing below it moves. */
export function reserveHeight(status, script) {
  if (Number(status.dataset.width) === status.clientWidth) {
    return;
  }
  status.dataset.width = status.clientWidth;
  const probe = makeElement("div", status.className, "", {
    "aria-hidden": "true",
    style: "min-height:0;visibility:hidden",
  });
  status.after(probe);
  const heights = findLongest(script).map((n) => {
    describeStep(probe, script.step(n), script.total);
    return probe.offsetHeight;
  });
  probe.remove();
  status.style.minHeight = `${Math.max(LEAST_HEIGHT, ...heights)}px`;
}

function findLongest({ tracks, words }) {
  const lengthOf = (word) => (words[word] ?? "").length;
  const sized = tracks.map(({ label, says }, n) => ({ n, size: lengthOf(label) + lengthOf(says) }));
  sized.sort((a, b) => b.size - a.size);
  return sized.slice(0, MOST_PROBED).map(({ n }) => n);
}
