// A map of routes: choose what is replaced, and see which calls notice. State: title, svg, states,
// headings, says, patches, counts, total, legend, index.

import { mountPicture, showPicture } from "./picture/picture.js";
import { makeElement, makeStatus } from "./shared/elements.js";
import { save } from "./shared/kernel.js";
import { keepKeys } from "./shared/keys.js";
import { lightWords } from "./shared/lit_words.js";

const NARROW = 520; // pixels: a phone has room for holders, arrows and functions alone
const GROUPS = Symbol.for("course.routes"); // how many groups of radio buttons the page has

function render({ model, el }) {
  const closing = new AbortController();
  const root = makeElement("div", "course-route-map", "", {
    role: "group",
    "aria-label": model.get("title"),
  });
  const host = makeElement("div", "", "");
  const side = makeSide(model);
  const { field, inputs } = makeChooser(model.get("headings"), model.get("index"), (index) => {
    model.set("index", index);
    save(model);
    showChange();
  });
  const body = makeElement("div", "course-route-body", "");
  body.append(host, side.box);
  root.append(makeElement("div", "course-title", model.get("title")), field, body);
  el.replaceChildren(root);
  const picture = mountPicture(host, model.get("svg"));
  fitToWidth(host, picture.drawing);

  const states = model.get("states");
  let shown = null;
  function show() {
    const index = model.get("index");
    inputs[index].checked = true;
    side.show(index);
    showPicture(picture, states[index], states[shown ?? index], shown !== null);
    shown = index;
  }
  function showChange() {
    if (model.get("index") !== shown) {
      show();
    }
  }
  model.on("change:index", showChange);
  keepKeys(root, closing.signal);
  lightWords();
  show();
  return () => closing.abort();
}

function makeChooser(headings, index, choose) {
  const field = makeElement("fieldset", "course-settings", "");
  field.append(makeElement("legend", "", "What is replaced"));
  globalThis[GROUPS] = (globalThis[GROUPS] ?? 0) + 1;
  const name = `course-routes-${globalThis[GROUPS]}`;
  const inputs = headings.map((heading, i) => {
    const label = makeElement("label", "", "");
    const input = makeElement("input", "", "", { type: "radio", name, value: i });
    input.checked = i === index;
    input.addEventListener("change", () => choose(i));
    label.append(input, makeElement("span", "", heading));
    field.append(label);
    return input;
  });
  return { field, inputs };
}

/** Return what stands beside the picture, and `show`, which fills it for a setting. */
function makeSide(model) {
  const box = makeElement("div", "course-route-side", "");
  const count = makeStatus("course-route-count");
  const dots = makeElement("div", "course-route-dots", "", { "aria-hidden": "true" });
  const patches = model.get("patches").map((patch) => patch || "# nothing is replaced");
  const patch = makeStack("pre", "", patches);
  const sentence = makeStack("div", "course-route-say", model.get("says"));
  const legend = makeElement("div", "course-route-legend", "");
  for (const text of model.get("legend")) {
    legend.append(makeElement("span", "", text));
  }
  box.append(count, dots, patch.box, sentence.box, legend);

  const show = (index) => {
    const number = model.get("counts")[index];
    const total = model.get("total");
    const words = number === 1 ? "call notices" : "calls notice";
    count.replaceChildren(makeElement("b", "", String(number)), ` of ${total} ${words}`);
    dots.textContent = "●".repeat(number) + "○".repeat(total - number);
    patch.shown.textContent = patches[index];
    sentence.shown.textContent = model.get("says")[index];
  };
  return { box, show };
}

/** Return a place as high as the highest of these texts, which it shows one at a time. */
function makeStack(tag, className, texts) {
  const box = makeElement("div", "course-route-stack", "");
  for (const text of texts) {
    box.append(makeElement(tag, `${className} course-ghost`, text, { "aria-hidden": "true" }));
  }
  const shown = makeElement(tag, className, "");
  box.append(shown);
  return { box, shown };
}

/** Leave out the left part of the picture where there is no room for it. */
function fitToWidth(host, drawing) {
  const { width, height } = drawing.viewBox.baseVal;
  const least = Number.parseFloat(drawing.style.minWidth) / width;
  const fit = () => {
    const start = host.clientWidth < NARROW ? Number(drawing.dataset.narrow) : 0;
    drawing.setAttribute("viewBox", `${start} 0 ${width - start} ${height}`);
    drawing.setAttribute("width", width - start);
    drawing.style.minWidth = `${Math.round(least * (width - start))}px`;
  };
  new ResizeObserver(fit).observe(host);
}

export default { render };
