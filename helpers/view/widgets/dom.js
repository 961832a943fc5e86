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

/** Ask the kernel, and say so where it does not answer in time. Gives what ends the waiting. */
function asker(model, status, patience, what) {
  let waiting = 0;
  const heard = () => clearTimeout(waiting);
  const ask = (content) => {
    heard();
    status.replaceChildren("Running…");
    const silent = `No answer yet. A busy kernel gives it later; after a restart, run this cell again to make ${what}.`;
    waiting = setTimeout(() => status.replaceChildren(silent), patience);
    model.send(content);
  };
  return [ask, heard];
}

/** Words of code in the text above an exhibit light its parts of that name, by mouse and keyboard. */
function lightWords(root, signal) {
  const named = (node) => node.dataset.name ?? node.querySelector("b, .word")?.textContent;
  const find = (words) => [...root.querySelectorAll(".stage-row, .stage-local, .box")].filter((node) => named(node) === words);
  const link = (word) => {
    const light = (on) => () => find(word.textContent).forEach((node) => node.classList.toggle("course-lit", on));
    word.tabIndex = 0;
    word.classList.add("course-word");
    for (const kind of ["mouseenter", "focus"]) word.addEventListener(kind, light(true), { signal });
    for (const kind of ["mouseleave", "blur"]) word.addEventListener(kind, light(false), { signal });
  };
  const isText = (cell) => cell && !cell.matches(".jp-CodeCell") && !cell.querySelector(".book-code");
  const start = () => {
    let cell = root.closest(".jp-Cell, .book-cell")?.previousElementSibling;
    for (; isText(cell); cell = cell.previousElementSibling)
      for (const word of cell.querySelectorAll("code")) if (find(word.textContent).length) link(word);
  };
  setTimeout(start, 600); // JupyterLab draws the text above at its own time
}
