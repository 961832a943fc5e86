// A map of routes: choose what is replaced, and see which calls notice. State: title, svg, states,
// headings, says, patches, counts, total, legend, index. dom.js and picture.js go before this file.

function chooser(headings, index, choose) {
  const field = make("fieldset", "course-settings", "");
  field.append(make("legend", "", "What is replaced"));
  const name = `course-routes-${(globalThis[Symbol.for("course.routes")] = (globalThis[Symbol.for("course.routes")] ?? 0) + 1)}`;
  const inputs = headings.map((heading, at) => {
    const label = make("label", "", "");
    const input = make("input", "", "", { type: "radio", name, value: at });
    input.checked = at === index;
    input.addEventListener("change", () => choose(at));
    label.append(input, make("span", "", heading));
    field.append(label);
    return input;
  });
  return { field, inputs };
}

/** A place as high as the highest of these texts, which it shows one at a time. */
function stacked(tag, className, texts) {
  const box = make("div", "course-route-stack", "");
  for (const words of texts) box.append(make(tag, `${className} course-ghost`, words, { "aria-hidden": "true" }));
  const shown = make(tag, className, "");
  box.append(shown);
  return [box, shown];
}

function side(model) {
  const box = make("div", "course-route-side", "");
  const count = make("div", "course-route-count", "", { role: "status", "aria-live": "polite" });
  const dots = make("div", "course-route-dots", "", { "aria-hidden": "true" });
  const patches = model.get("patches").map((words) => words || "# nothing is replaced");
  const [patchBox, patch] = stacked("pre", "", patches);
  const [sayBox, say] = stacked("div", "course-route-say", model.get("says"));
  const legend = make("div", "course-route-legend", "");
  for (const words of model.get("legend")) legend.append(make("span", "", words));
  box.append(count, dots, patchBox, sayBox, legend);
  const show = (at) => {
    const [number, total] = [model.get("counts")[at], model.get("total")];
    const words = number === 1 ? "call notices" : "calls notice";
    count.replaceChildren(make("b", "", String(number)), ` of ${total} ${words}`);
    dots.textContent = "●".repeat(number) + "○".repeat(total - number);
    patch.textContent = patches[at];
    say.textContent = model.get("says")[at];
  };
  return { box, show };
}

function render({ model, el }) {
  const ending = new AbortController();
  const root = make("div", "course-route-map", "", { role: "group", "aria-label": model.get("title") });
  const [states, headings] = [model.get("states"), model.get("headings")];
  const host = make("div", "", "");
  const about = side(model);
  let shown = null;
  const show = () => {
    const at = model.get("index");
    inputs[at].checked = true;
    about.show(at);
    showPicture(picture, states[at], states[shown ?? at], shown !== null);
    shown = at;
  };
  const { field, inputs } = chooser(headings, model.get("index"), (at) => {
    model.set("index", at);
    save(model);
    if (at !== shown) show();
  });
  const body = make("div", "course-route-body", "");
  body.append(host, about.box);
  root.append(make("div", "course-title", model.get("title")), field, body);
  el.replaceChildren(root);
  const picture = mountPicture(host, model.get("svg"));
  const { drawing } = picture, { width, height } = drawing.viewBox.baseVal, least = parseFloat(drawing.style.minWidth) / width;
  new ResizeObserver(() => { // a phone has room for holders, arrows and functions alone
    const start = host.clientWidth < 520 ? Number(drawing.dataset.narrow) : 0;
    drawing.setAttribute("viewBox", `${start} 0 ${width - start} ${height}`);
    drawing.setAttribute("width", width - start);
    drawing.style.minWidth = `${Math.round(least * (width - start))}px`;
  }).observe(host);
  model.on("change:index", () => model.get("index") !== shown && show());
  keepKeys(root, ending.signal);
  lightWords();
  show();
  return () => ending.abort();
}

export default { render };
