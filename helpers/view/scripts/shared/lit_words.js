// Words of a text that light what has their name in the exhibit below it.

const MARKED_WORDS = "code, strong, em"; // of a text, that may name a part of the exhibit below it
const LIT_PLACES = ".stage-row, .stage-local, .box, tr"; // what is lit as a whole
const OUTPUTS = ".jp-OutputArea-output, .book-output";
const DRAWING_TIME = 600; // milliseconds: JupyterLab draws a text at its own time
const WAITING = Symbol.for("course.words"); // shared by all exhibits of a page

/** Let words of the texts light what they name, by mouse and keyboard; once for all exhibits. */
export function lightWords() {
  clearTimeout(globalThis[WAITING]);
  globalThis[WAITING] = setTimeout(prepareWords, DRAWING_TIME);
}

function prepareWords() {
  const cells = [...document.querySelectorAll(".jp-MarkdownCell, .book-cell")];
  for (const cell of cells.filter(isText)) {
    const words = [...cell.querySelectorAll(MARKED_WORDS)];
    const fresh = words.filter((word) => !word.dataset.courseWord);
    if (!fresh.length) {
      continue;
    }
    const names = new Set(findNamedBelow(cell).map(([name]) => name));
    for (const word of fresh.filter(({ textContent }) => names.has(textContent))) {
      prepareWord(word, cell);
    }
  }
}

function prepareWord(word, cell) {
  let lit = [];
  const light = () => {
    const named = findNamedBelow(cell).filter(([name]) => name === word.textContent);
    lit = named.map(([, element]) => element);
    setLight(lit, true);
  };
  const darken = () => setLight(lit, false);
  word.dataset.courseWord = "yes";
  word.tabIndex = 0;
  word.style.cssText =
    "text-decoration: underline dotted; text-underline-offset: 3px; cursor: help";
  word.addEventListener("mouseenter", light);
  word.addEventListener("focus", light);
  word.addEventListener("mouseleave", darken);
  word.addEventListener("blur", darken);
}

function setLight(elements, on) {
  for (const element of elements) {
    element.classList.toggle("course-lit", on);
    element.style.outline = on ? "3px solid var(--who-update, Highlight)" : "";
  }
}

/** Return pairs of a name and an element, of the exhibits of the code cells below a text. */
function findNamedBelow(cell) {
  const outputs = cellsBelow(cell).flatMap((below) => [...below.querySelectorAll(OUTPUTS)]);
  return outputs.flatMap((output) => [...findNamed(output)]);
}

/** Return the code cells that stand directly below a text. */
function cellsBelow(cell) {
  const found = [];
  for (let next = cell.nextElementSibling; next; next = next.nextElementSibling) {
    if (!isText(next)) {
      found.push(next);
    } else if (found.length) {
      break;
    }
  }
  return found;
}

function isText(cell) {
  return !cell.matches(".jp-CodeCell") && !cell.querySelector(".book-code");
}

/** Yield a name and an element for all that has a name, also in pictures of their own document. */
function* findNamed(root) {
  for (const element of root.querySelectorAll("*")) {
    if (element.shadowRoot) {
      yield* findNamed(element.shadowRoot);
    }
    if (element.dataset?.name) {
      yield [element.dataset.name, element];
    }
    if (!element.childElementCount && !element.closest("pre, style, script, title")) {
      yield [element.textContent.trim(), element.closest(LIT_PLACES) ?? element];
    }
  }
}
