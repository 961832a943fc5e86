// The source: the line that is about to run, and in it the part that runs.

const KEYWORD = /^(and|as|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield|None|True|False)$/;

const DEED_LETTER = 7; // pixels of a letter beside a line, for which there must be room

// A comment, a string (one in triple quotes may go on), a keyword, or the rest of a name or number.
const TOKENS = /#.*|(?:\b[rbfut]{1,2})?("""|'''|"|')|\b\w+/gi;

/** Lines of Python with their keywords in bold. Strings and comments are left as they are. */
function pythonLines(lines) {
  let open = ""; // the triple quotes of a string that goes on from the line above
  return lines.map((words) => {
    const code = make("code", "stage-code", "");
    let from = 0;
    let at = 0;
    if (open) [at, open] = endOf(words, 0, open);
    while (at < words.length) {
      TOKENS.lastIndex = at;
      const found = TOKENS.exec(words);
      if (!found) break;
      at = TOKENS.lastIndex;
      if (found[1]) [at, open] = endOf(words, at, found[1]);
      else if (KEYWORD.test(found[0])) {
        code.append(words.slice(from, found.index), make("b", "", found[0]));
        from = at;
      }
    }
    code.append(words.slice(from) || (from ? "" : " "));
    return code;
  });
}

/** Where a string ends that begins at `from`, and its quotes if it goes on in the next line. */
function endOf(words, from, quotes) {
  for (let at = from; at < words.length; at += 1) {
    if (words[at] === "\\") at += 1;
    else if (words.startsWith(quotes, at)) return [at + quotes.length, ""];
  }
  return [words.length, quotes.length === 3 ? quotes : ""];
}

/** Rectangles of text, one for each line on the page. */
function joined(places) {
  const lines = [];
  for (const place of places.filter(({ width }) => width)) {
    const line = lines.find(({ top, height }) => Math.abs(place.top - top) < height / 2);
    if (!line) lines.push({ left: place.left, right: place.right, top: place.top, height: place.height });
    else [line.left, line.right] = [Math.min(line.left, place.left), Math.max(line.right, place.right)];
  }
  return lines;
}

/** The characters `from` … `to` of a node's text. */
function placeOf(node, from, to) {
  const range = document.createRange();
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  let seen = 0;
  let begun = false;
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const end = seen + text.length;
    if (!begun && from <= end) begun = !range.setStart(text, from - seen);
    if (to <= end || !walker.nextNode()) {
      range.setEnd(text, Math.min(to - seen, text.length));
      break;
    }
    walker.previousNode();
    seen = end;
  }
  return range;
}

function sourcePane(script, go, links) {
  const pane = makePane("source", "Source");
  const box = makeScroll(make("div", "stage-lines", ""), "Source");
  const list = make("div", "stage-listed", "");
  const [lit, hint] = ["stage-lit", "stage-hint"].map((kind) => make("div", kind, "", { hidden: "" }));
  const used = new Set(script.tracks.map((step) => step.line));
  const listed = pythonLines(script.lines);
  const rows = script.lines.map((words, i) => {
    const row = make("div", "stage-line", "");
    const called = script.numbers?.[i] ?? i + 1;
    const number = make(used.has(i + 1) ? "button" : "span", "stage-number", String(called));
    if (used.has(i + 1)) {
      number.type = "button";
      number.setAttribute("aria-label", `Go to the next step on line ${called}`);
      number.title = "click: go to the next step on this line";
      row.classList.add("stage-used");
      row.addEventListener("click", () => getSelection().isCollapsed && go(nextOn(script, i + 1)));
    }
    const indent = words.search(/\S|$/) + 4; // of what wraps
    Object.assign(listed[i].style, { paddingLeft: `${indent}ch`, textIndent: `-${indent}ch` });
    row.append(number, make("span", "stage-mark", "", { "aria-hidden": "true" }), listed[i]);
    list.append(row);
    return row;
  });
  list.append(lit, hint);
  box.append(list);
  pane.body.append(box);

  /** Put a mark on a span; where its line wraps, a copy of the mark lies on each further piece. */
  const put = (node, span) => {
    for (const piece of list.querySelectorAll(`.${node.classList[0]}.stage-piece`)) piece.remove();
    const row = span && rows[span[0] - 1];
    node.hidden = !row;
    if (!row) return;
    const code = row.lastChild;
    const size = code.textContent.length;
    const range = placeOf(code, Math.min(span[1], size), span[2] === span[0] ? Math.min(span[3], size) : size);
    const zero = list.getBoundingClientRect();
    const scale = zero.width / list.offsetWidth || 1;
    joined([...range.getClientRects()]).forEach((place, n) => {
      const piece = n ? node.cloneNode() : node;
      if (n) piece.classList.add("stage-piece");
      piece.style.left = `${(place.left - zero.left) / scale - 2}px`;
      piece.style.top = `${(place.top - zero.top + place.height / 2) / scale - 10}px`;
      piece.style.width = `${(place.right - place.left) / scale + 4}px`;
      if (n) list.append(piece);
    });
  };
  let current = null;
  const show = (now, moving) => {
    current?.removeAttribute("aria-current");
    if (current) current.children[1].textContent = "";
    current = rows[now.line - 1] ?? null;
    current?.setAttribute("aria-current", "step");
    if (current) {
      current.children[1].textContent = "▶";
      follow(box, current.offsetTop, current.offsetHeight, !moving);
    }
    for (const row of list.querySelectorAll(".stage-deed")) leaveNoDeed(row);
    const left = rows[now.left - 1];
    if (left) markDeed(left, now.deed, left === current, box.clientWidth);
    if (left && !current) follow(box, left.offsetTop, left.offsetHeight, !moving);
    lit.classList.toggle("stage-slides", moving);
    put(lit, now.span);
    pane.aside.textContent = now.span ? "lit: runs next" : now.row >= 0 ? "next: no words of its own" : now.line ? "▶ runs next" : "";
  };
  list.addEventListener("mousemove", (event) => {
    const row = event.target.closest?.(".stage-line");
    if (!row) return;
    links.atSource(rows.indexOf(row) + 1, columnAt(row.lastChild, event));
  });
  list.addEventListener("mouseleave", () => links.atSource(0, 0));
  links.onSpan((span) => put(hint, span));
  return { box: pane.box, show, lit, tidy: (now) => put(lit, now.span) };
}

/** The column of a line of code that is under the mouse. */
function columnAt(code, event) {
  const size = code.textContent.length;
  const under = ({ left, right, top, bottom }) =>
    left <= event.clientX && event.clientX < right && top - 4 <= event.clientY && event.clientY < bottom + 4;
  for (let n = 0; n < size; n++) if (under(placeOf(code, n, n + 1).getBoundingClientRect())) return n;
  return size;
}

/** A line that was left in another way than by going on says how; it has no pointer for it. */
function markDeed(row, deed, alsoNext, room) {
  const raised = deed.includes("raised");
  row.classList.add("stage-deed");
  row.classList.toggle("stage-raised", raised);
  if (!alsoNext) row.children[1].textContent = raised ? "✕" : "↩";
  const words = alsoNext ? `${raised ? "✕" : "↩"} ${deed}` : deed;
  const code = row.lastChild;
  if (code.offsetLeft + code.offsetWidth + words.length * DEED_LETTER <= room) row.dataset.deed = words;
  row.title = deed;
}

function leaveNoDeed(row) {
  row.classList.remove("stage-deed", "stage-raised");
  delete row.dataset.deed;
  row.removeAttribute("title");
  if (!row.hasAttribute("aria-current")) row.children[1].textContent = "";
}

/** The first step after this one on a line, or else the first of all. */
const nextOn = (script, line) => (at) => {
  const later = script.tracks.findIndex((step, n) => n > at && step.line === line);
  return later >= 0 ? later : script.tracks.findIndex((step) => step.line === line);
};

/** Hovering over an instruction shows its place in the source, and the other way round. */
function makeLinks() {
  let [showSpan, showRows, rows] = [() => {}, () => {}, () => []];
  return {
    onSpan: (use) => (showSpan = use),
    onRows: (use, current) => ([showRows, rows] = [use, current]),
    atRow: (row) => (showRows(row ? [row] : []), showSpan(row?.span ?? null)),
    atSource: (line, column) => {
      const over = rows().filter(({ span }) => span && span[0] === line && column >= span[1] && column < (span[2] === line ? span[3] : 1e9));
      const width = ({ span }) => (span[2] - span[0]) * 1e4 + span[3] - span[1];
      const least = Math.min(...over.map(width));
      const found = over.filter((row) => width(row) === least && String(row.span) === String(over.find((o) => width(o) === least).span));
      showRows(found);
      showSpan(found[0]?.span ?? null);
    },
  };
}
