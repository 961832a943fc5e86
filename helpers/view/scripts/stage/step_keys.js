// The keys that move between steps.

import { hasModifier } from "../shared/keys.js";

const back = (at) => at - 1;
const forward = (at) => at + 1;
const STEP_KEYS = {
  ArrowLeft: back,
  ArrowUp: back,
  PageUp: back,
  ArrowRight: forward,
  ArrowDown: forward,
  PageDown: forward,
  Home: () => 0,
  End: () => Number.POSITIVE_INFINITY,
};
// on a slider up is more; elsewhere it is what stands above, which came before
const SLIDER_KEYS = {
  ...STEP_KEYS,
  ArrowUp: forward,
  PageUp: forward,
  ArrowDown: back,
  PageDown: back,
};
const SIDEWAYS = ["ArrowLeft", "ArrowRight"];

/** Let keys inside `root` move between steps, before JupyterLab moves between cells by them. */
export function listenForKeys(root, go, signal) {
  const handleKey = (event) => {
    const { target, key } = event;
    if (!root.contains(target) || target.closest("input")) {
      return; // JupyterLab leaves alone what is written in
    }
    if (target.closest("select")) {
      event.stopPropagation();
      return;
    }
    const choose = (target.closest(".course-slider") ? SLIDER_KEYS : STEP_KEYS)[key];
    const isOurs = choose || key === "Enter" || key === " ";
    if (hasModifier(event) || event.shiftKey || !isOurs) {
      return;
    }
    event.stopPropagation();
    const scrolls = target.closest(".course-scrolls") && !SIDEWAYS.includes(key);
    if (choose && !scrolls) {
      event.preventDefault();
      go(choose);
    }
  };
  window.addEventListener("keydown", handleKey, { capture: true, signal });
}
