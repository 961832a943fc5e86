// What every widget of the course is made of. `widget_class` puts it before the widget's own file.

function make(tag, className, words, attributes = {}) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (words) node.textContent = words;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** A place whose words a screen reader speaks when they change. */
function makeStatus(className = "course-status") {
  return make("div", className, "", { role: "status", "aria-live": "polite" });
}

/** Arrows, Enter and Space inside `root` are ours; JupyterLab must not move between cells.
 *
 * Where lines are typed, Enter with Shift, Ctrl, Alt or Cmd runs them: JupyterLab would run the
 * cell again, and the lines would be gone. */
function keepKeys(root, signal) {
  const onKey = (event) => {
    if (!root.contains(event.target)) return;
    const modified = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
    if (modified && event.key === "Enter" && event.target.matches("textarea")) {
      event.stopPropagation();
      event.preventDefault();
      if (!event.repeat) event.target.form.requestSubmit();
      return;
    }
    if (modified) return;
    if (event.key.startsWith("Arrow") || event.key === "Enter" || event.key === " ")
      event.stopPropagation();
  };
  window.addEventListener("keydown", onKey, { capture: true, signal });
}

/** Let a kernel that lives know the state too; a page that was reopened without one needs none. */
function save(model) {
  try {
    model.save_changes();
  } catch {
    /* the page's own state is enough */
  }
}

/** Whether the page's kernel knows a widget; it answers when no cell runs. False for no kernel,
 * for one that was restarted, and for one that ends before it answers. */
async function isKnown(model) {
  const manager = model.widget_manager;
  if (!manager || !("kernel" in manager)) return true; // a page that has nobody to ask
  if (!manager.kernel) return false;
  try {
    const { content } = await manager.kernel.requestCommInfo({ target_name: "jupyter.widget" });
    return !content.comms || !model.get("own") || model.get("own") in content.comms;
  } catch {
    return false;
  }
}

/** Send to the kernel, and `tell` of it until the returned function is called: "late" where no answer
 * came in time, "gone" as soon as it is known that none can come. */
function request(model, content, patience, tell) {
  let open = true;
  const waiting = setTimeout(() => tell("late"), patience);
  const end = () => {
    open = false;
    clearTimeout(waiting);
  };
  const lose = () => {
    if (!open) return;
    end();
    tell("gone");
  };
  try {
    model.send(content);
    isKnown(model).then((known) => known || lose());
  } catch {
    lose(); // the channel was closed when its kernel ended
  }
  return end;
}

const isGone = (what) => `No kernel knows this exhibit any more: run this cell again, after those that it needs, to make ${what}.`;

/** Ask the kernel, and say so where it does not answer. Gives what ends the waiting. */
function asker(model, status, patience, what) {
  let end = () => {};
  const heard = () => end();
  const says = {
    late: `No answer yet. A busy kernel answers later. After a restart, run this cell again to make ${what}.`,
    gone: isGone(what),
  };
  const ask = (content) => {
    heard();
    status.replaceChildren("Running…");
    end = request(model, content, patience, (how) => status.replaceChildren(says[how]));
  };
  return [ask, heard];
}

const WORDS = "code, strong, em"; // of a text, that may name a part of the exhibit below it
const PLACES = ".stage-row, .stage-local, .box, tr"; // what is lit as a whole

const isText = (cell) => !cell.matches(".jp-CodeCell") && !cell.querySelector(".book-code");

/** The code cells that stand directly below a text. */
function cellsBelow(cell) {
  const found = [];
  for (let at = cell.nextElementSibling; at && (isText(at) ? !found.length : true); at = at.nextElementSibling)
    if (!isText(at)) found.push(at);
  return found;
}

/** What has a name in an exhibit, pictures of their own document included: pairs of words and a node. */
function* named(root) {
  for (const node of root.querySelectorAll("*")) {
    if (node.shadowRoot) yield* named(node.shadowRoot);
    if (node.dataset?.name) yield [node.dataset.name, node];
    if (!node.childElementCount && !node.closest("pre, style, script, title"))
      yield [node.textContent.trim(), node.closest(PLACES) ?? node];
  }
}

const namedBelow = (cell) =>
  cellsBelow(cell).flatMap((one) => [...one.querySelectorAll(".jp-OutputArea-output, .book-output")].flatMap((root) => [...named(root)]));

function markWords() {
  for (const cell of [...document.querySelectorAll(".jp-MarkdownCell, .book-cell")].filter(isText)) {
    const words = [...cell.querySelectorAll(WORDS)].filter((word) => !word.dataset.courseWord);
    const names = new Set(words.length ? namedBelow(cell).map(([name]) => name) : []);
    for (const word of words.filter((one) => names.has(one.textContent))) {
      let lit = [];
      const light = (on) => () => {
        lit = on ? namedBelow(cell).filter(([name]) => name === word.textContent).map(([, node]) => node) : lit;
        for (const node of lit) {
          node.classList.toggle("course-lit", on);
          node.style.outline = on ? "3px solid var(--who-update, Highlight)" : "";
        }
      };
      word.dataset.courseWord = "yes";
      word.tabIndex = 0;
      word.style.cssText = "text-decoration: underline dotted; text-underline-offset: 3px; cursor: help";
      for (const kind of ["mouseenter", "focus"]) word.addEventListener(kind, light(true));
      for (const kind of ["mouseleave", "blur"]) word.addEventListener(kind, light(false));
    }
  }
}

/** Words of a text light what has their name in the exhibit below it, by mouse and keyboard; once for all exhibits. */
function lightWords() {
  const waiting = Symbol.for("course.words");
  clearTimeout(globalThis[waiting]);
  globalThis[waiting] = setTimeout(markWords, 600); // JupyterLab draws a text at its own time
}
