// Code objects: their bytes and their source, side by side. Select in one, see the other.
// State: codes = [{name, fields (our own escaped HTML), lines, units, rest}], note, shown, picked.
// A unit is [offset, bytes, cache entries, words, [line, column, end line, end column], line].

const before = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
const covers = ([l, c, el, ec], at) => l > 0 && !before(at, [l, c]) && before(at, [el, ec]);
const width = ([l, c, el, ec]) => (el - l) * 1000 + ec - c;

/** The source cut at every place where some unit begins or ends; cuts never cross a line. */
function pieces(lines, units) {
  const cuts = lines.map((line) => new Set([0, [...line].length]));
  for (const [, , , , [l, c, el, ec]] of units) {
    if (!l) continue;
    cuts[l - 1]?.add(c);
    cuts[el - 1]?.add(ec);
  }
  return lines.map((line, n) => {
    const letters = [...line];
    const at = [...cuts[n]].filter((c) => c <= letters.length).sort((a, b) => a - b);
    return at.slice(0, -1).map((c, i) => ({ at: [n + 1, c], words: letters.slice(c, at[i + 1]).join("") }));
  });
}

function sourceText(code, pick) {
  const box = make("pre", "course-text", "");
  const parts = [];
  pieces(code.lines, code.units).forEach((line, n) => {
    if (n) box.append("\n");
    for (const { at, words } of line) {
      const mine = code.units.map((u, i) => [u, i]).filter(([u]) => covers(u[4], at));
      mine.sort(([a], [b]) => width(a[4]) - width(b[4]));
      const part = make("span", "", words);
      box.append(part);
      parts.push({ part, at });
      if (!mine.length || !words.trim()) continue;
      part.setAttribute("role", "button");
      part.setAttribute("tabindex", "0");
      part.setAttribute("aria-label", `${words.trim()}: ${mine[0][0][3]}`);
      const go = () => pick(mine[0][1]);
      part.addEventListener("click", go);
      part.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        go();
      });
    }
  });
  const show = (span) => {
    for (const { part, at } of parts) {
      const on = covers(span, at);
      const words = part.textContent;
      part.replaceChildren(on ? make("mark", "", words) : words);
    }
  };
  return { box, show };
}

function byteGrid(code, pick) {
  const box = make("div", "course-bytes", "", { role: "group", "aria-label": "Bytes of co_code" });
  const nodes = code.units.map(([offset, bytes, caches, words], i) => {
    const node = make("button", "", bytes, { type: "button", "aria-label": `${offset} ${words}` });
    if (caches) node.append(make("span", "course-cache", ` +${2 * caches}`));
    node.addEventListener("click", () => pick(i));
    node.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      const to = Math.max(0, Math.min(nodes.length - 1, i + step));
      pick(to);
      nodes[to].focus();
    });
    box.append(node);
    return node;
  });
  const show = (picked) =>
    nodes.forEach((node, i) => {
      node.setAttribute("aria-pressed", String(i === picked));
      node.setAttribute("tabindex", i === picked ? "0" : "-1");
    });
  return { box, show };
}

function render({ model, el }) {
  const codes = model.get("codes");
  const root = make("div", "course-code", "", { role: "group", "aria-label": `Code object ${codes[0]?.name ?? ""}` });
  const bar = make("div", "course-bar", "");
  const body = make("div", "", "");
  const set = (name, value) => {
    model.set(name, value);
    save(model);
  };
  const tabs = codes.map((code, i) => {
    const tab = make("button", "", code.name, { type: "button" });
    tab.addEventListener("click", () => (set("picked", 0), set("shown", i)));
    if (codes.length > 1) bar.append(tab);
    return tab;
  });
  root.append(bar, body);
  if (model.get("note")) root.append(make("div", "", model.get("note")));
  el.append(root);

  let redraw = () => {};
  const open = () => {
    const shown = Math.min(model.get("shown"), codes.length - 1);
    const code = codes[shown];
    tabs.forEach((tab, i) => tab.setAttribute("aria-pressed", String(i === shown)));
    const pick = (i) => set("picked", i);
    const [source, bytes] = [sourceText(code, pick), byteGrid(code, pick)];
    const said = makeStatus("course-said");
    const fields = make("div", "", "");
    fields.innerHTML = code.fields;
    const both = make("div", "course-both", "");
    both.append(bytes.box, source.box);
    body.replaceChildren(both, said, fields);
    if (code.rest) said.after(make("div", "", code.rest));
    redraw = () => {
      const picked = Math.max(0, Math.min(code.units.length - 1, model.get("picked")));
      const [offset, data, caches, words, span, line] = code.units[picked];
      bytes.show(picked);
      source.show(span);
      const place = line ? `line ${line}` : "no place in the source";
      said.textContent = `offset ${offset}: bytes ${data}${caches ? ` and ${2 * caches} bytes of inline cache` : ""} · ${words} · ${place}`;
    };
    redraw();
  };
  const onPick = () => redraw();
  model.on("change:shown", open);
  model.on("change:picked", onPick);
  open();
  return () => {
    model.off("change:shown", open);
    model.off("change:picked", onPick);
  };
}

export default { render };
