// Bundled by tools/bundle_scripts.py from helpers/view/scripts/code.js, sha256 e4b74be7fb9f95f54266227b7d27385ba9cb35e59faba51cd8ef404128059396

// code/spans.js
function covers([line, column, endLine, endColumn], place) {
  return line > 0 && !isBefore(place, [line, column]) && isBefore(place, [endLine, endColumn]);
}
function measureSpan([line, column, endLine, endColumn]) {
  return (endLine - line) * 1e3 + endColumn - column;
}
function cutLines(lines, spans) {
  const cuts = lines.map((line) => /* @__PURE__ */ new Set([0, [...line].length]));
  for (const [line, column, endLine, endColumn] of spans) {
    if (line) {
      cuts[line - 1]?.add(column);
      cuts[endLine - 1]?.add(endColumn);
    }
  }
  return lines.map((line, i) => cutLine([...line], i + 1, cuts[i]));
}
function cutLine(letters, number, cuts) {
  const columns = [...cuts].filter((column) => column <= letters.length);
  columns.sort((a, b) => a - b);
  return columns.slice(0, -1).map((column, i) => ({
    place: [number, column],
    text: letters.slice(column, columns[i + 1]).join("")
  }));
}
function isBefore(a, b) {
  return a[0] < b[0] || a[0] === b[0] && a[1] < b[1];
}

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
function makeStatus(className = "course-status") {
  return makeElement("div", className, "", { role: "status", "aria-live": "polite" });
}
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
}

// shared/kernel.js
function save(model) {
  try {
    model.save_changes();
  } catch {
  }
}

// code.js
var ARROW_STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
function render({ model, el }) {
  const codes = model.get("codes").map(readCode);
  const root = makeElement("div", "course-code", "", {
    role: "group",
    "aria-label": `Code object ${codes[0]?.name ?? ""}`
  });
  const bar = makeElement("div", "course-bar", "");
  const body = makeElement("div", "", "");
  const set = (name, value) => {
    model.set(name, value);
    save(model);
  };
  const tabs = codes.map((code, i) => {
    const tab = makeElement("button", "", code.name, { type: "button" });
    tab.addEventListener("click", () => {
      set("picked", 0);
      set("shown", i);
    });
    return tab;
  });
  if (codes.length > 1) {
    bar.append(...tabs);
  }
  root.append(bar, body);
  if (model.get("note")) {
    root.append(makeElement("div", "", model.get("note")));
  }
  el.append(root);
  let showPicked = () => {
  };
  const redraw = () => showPicked(model.get("picked"));
  const open = () => {
    const shown = Math.min(model.get("shown"), codes.length - 1);
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-pressed", String(i === shown));
    });
    showPicked = openCode(body, codes[shown], (i) => set("picked", i));
    redraw();
  };
  model.on("change:shown", open);
  model.on("change:picked", redraw);
  open();
  return () => {
    model.off("change:shown", open);
    model.off("change:picked", redraw);
  };
}
function readCode(code) {
  const units = code.units.map(([offset, bytes, caches, text, span, line]) => ({
    offset,
    bytes,
    caches,
    text,
    span,
    line
  }));
  return { ...code, units };
}
function openCode(body, code, pick) {
  const source = makeSourceText(code, pick);
  const bytes = makeByteGrid(code, pick);
  const both = makeElement("div", "course-both", "");
  both.append(bytes.box, source.box);
  const status = makeStatus("course-said");
  const fields = makeElement("div", "", "");
  fields.innerHTML = code.fields;
  body.replaceChildren(both, status, fields);
  if (code.rest) {
    status.after(makeElement("div", "", code.rest));
  }
  return (index) => {
    const picked = Math.max(0, Math.min(code.units.length - 1, index));
    const unit = code.units[picked];
    bytes.show(picked);
    source.show(unit.span);
    status.textContent = describeUnit(unit);
  };
}
function describeUnit({ offset, bytes, caches, text, line }) {
  const cache = caches ? ` and ${2 * caches} bytes of inline cache` : "";
  const place = line ? `line ${line}` : "no place in the source";
  return `offset ${offset}: bytes ${bytes}${cache} · ${text} · ${place}`;
}
function makeSourceText(code, pick) {
  const box = makeElement("pre", "course-text", "");
  const lines = cutLines(
    code.lines,
    code.units.map(({ span }) => span)
  );
  const parts = [];
  lines.forEach((pieces, n) => {
    if (n) {
      box.append("\n");
    }
    for (const { place, text } of pieces) {
      const part = makeElement("span", "", text);
      box.append(part);
      parts.push({ part, place });
      const index = findNarrowest(code.units, place);
      if (index >= 0 && text.trim()) {
        makePickable(part, `${text.trim()}: ${code.units[index].text}`, () => pick(index));
      }
    }
  });
  const show = (span) => {
    for (const { part, place } of parts) {
      const text = part.textContent;
      part.replaceChildren(covers(span, place) ? makeElement("mark", "", text) : text);
    }
  };
  return { box, show };
}
function findNarrowest(units, place) {
  const around = units.filter(({ span }) => covers(span, place));
  around.sort((a, b) => measureSpan(a.span) - measureSpan(b.span));
  return units.indexOf(around[0]);
}
function makePickable(part, label, act) {
  part.setAttribute("role", "button");
  part.setAttribute("tabindex", "0");
  part.setAttribute("aria-label", label);
  part.addEventListener("click", act);
  part.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      act();
    }
  });
}
function makeByteGrid(code, pick) {
  const box = makeElement("div", "course-bytes", "", {
    role: "group",
    "aria-label": "Bytes of co_code"
  });
  const buttons = code.units.map((unit, i) => {
    const button = makeByteButton(unit);
    button.addEventListener("click", () => pick(i));
    button.addEventListener("keydown", (event) => {
      const step = ARROW_STEPS[event.key];
      if (!step) {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      const next = Math.max(0, Math.min(buttons.length - 1, i + step));
      pick(next);
      buttons[next].focus();
    });
    return button;
  });
  box.append(...buttons);
  const show = (picked) => {
    buttons.forEach((button, i) => {
      button.setAttribute("aria-pressed", String(i === picked));
      button.setAttribute("tabindex", i === picked ? "0" : "-1");
    });
  };
  return { box, show };
}
function makeByteButton({ offset, bytes, caches, text }) {
  const button = makeElement("button", "", bytes, {
    type: "button",
    "aria-label": `${offset} ${text}`
  });
  if (caches) {
    button.append(makeElement("span", "course-cache", ` +${2 * caches}`));
  }
  return button;
}
var code_default = { render };
export {
  code_default as default
};
