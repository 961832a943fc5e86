// Bundled by tools/bundle_scripts.py from helpers/view/scripts/progress_line.js, sha256 23c1a4d31227c17f2ca796b2c826aeba1b56f6e0fc66598813f830ea57ba977d

// shared/elements.js
function makeElement(tag, className, text, attributes = {}) {
  const element = document.createElement(tag);
  if (className) {
    element.className = className;
  }
  if (text) {
    element.textContent = text;
  }
  setAttributes(element, attributes);
  return element;
}
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
}

// progress_line.js
var SPEAK_AFTER = 50;
var KERNEL_ENDS = ["restarting", "autorestarting", "terminating", "dead"];
function initialize({ model }) {
  const box = document.querySelector(".course-waiting") ?? makeElement("div", "course-waiting");
  const line = makeElement("div", "course-waiting-line");
  const text = makeElement("span", "course-waiting-words", "", { role: "status" });
  const clock = makeElement("span", "course-waiting-clock", "", { "aria-hidden": "true" });
  line.append(text, clock);
  box.append(line);
  document.body.append(box);
  const begun = Date.now() - 1e3 * model.get("since");
  const showText = () => {
    text.textContent = model.get("words");
  };
  const showSeconds = () => {
    clock.textContent = ` · ${Math.round((Date.now() - begun) / 1e3)} s`;
  };
  const first = setTimeout(showText, SPEAK_AFTER);
  const timer = setInterval(showSeconds, 1e3);
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
function endIfForgotten(model, end) {
  const request = model.widget_manager?.kernel?.requestCommInfo({ target_name: "jupyter.widget" });
  const endIfGone = ({ content }) => {
    if (content.comms && !(model.get("own") in content.comms)) {
      end();
    }
  };
  request?.then(endIfGone, () => {
  });
}
var progress_line_default = { initialize };
export {
  progress_line_default as default
};
