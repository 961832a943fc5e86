// One line at the foot of the window, as long as its model lives. It is in no cell's output.

import { makeElement } from "./shared/elements.js";

const SPEAK_AFTER = 50; // milliseconds: a screen reader speaks what changes, not what is there at once
const KERNEL_ENDS = ["restarting", "autorestarting", "terminating", "dead"];

function initialize({ model }) {
  const box = document.querySelector(".course-waiting") ?? makeElement("div", "course-waiting");
  const line = makeElement("div", "course-waiting-line");
  const text = makeElement("span", "course-waiting-words", "", { role: "status" });
  const clock = makeElement("span", "course-waiting-clock", "", { "aria-hidden": "true" });
  line.append(text, clock);
  box.append(line);
  document.body.append(box);

  const begun = Date.now() - 1000 * model.get("since");
  const showText = () => {
    text.textContent = model.get("words");
  };
  const showSeconds = () => {
    clock.textContent = ` · ${Math.round((Date.now() - begun) / 1000)} s`;
  };
  const first = setTimeout(showText, SPEAK_AFTER);
  const timer = setInterval(showSeconds, 1000);
  showSeconds();
  model.on("change:words", showText);

  const stopWatching = watchKernel(model, end);
  endIfForgotten(model, end);

  function end() {
    stopWatching();
    clearTimeout(first);
    clearInterval(timer);
    line.remove();
    if (!box.childElementCount) {
      box.remove();
    }
  }
  return end;
}

/** Call `end` where the kernel is restarted or dead, which closes nothing. */
function watchKernel(model, end) {
  const statusChanged = model.widget_manager?.kernel?.statusChanged;
  const look = (_, status) => {
    if (KERNEL_ENDS.includes(status)) {
      end();
    }
  };
  statusChanged?.connect(look);
  return () => statusChanged?.disconnect(look);
}

/** Ask once whether the cell has ended: a page that was opened meanwhile may have missed it. */
function endIfForgotten(model, end) {
  const request = model.widget_manager?.kernel?.requestCommInfo({ target_name: "jupyter.widget" });
  const endIfGone = ({ content }) => {
    if (content.comms && !(model.get("own") in content.comms)) {
      end();
    }
  };
  request?.then(endIfGone, () => {});
}

export default { initialize };
