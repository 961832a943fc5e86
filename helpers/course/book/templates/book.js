// The frame of a page: theme, contents, search, and keys for what scrolls.

const byId = (id) => document.getElementById(id);

function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    /* a page that may keep nothing shows the theme all the same */
  }
}

// Theme: the reader's system decides until the button does.
const themeButton = byId("book-theme");
const isDark = () => document.body.dataset.jpThemeLight === "false";
const showTheme = () => themeButton.setAttribute("aria-pressed", String(isDark()));
themeButton.addEventListener("click", () => {
  document.body.dataset.jpThemeLight = String(isDark());
  keep("book-theme", isDark() ? "dark" : "light");
  showTheme();
});
showTheme();

// Paper is light, and no wider than it is: a picture that scrolls on a screen is fitted to it.
let onScreen = null;
let fitted = [];
addEventListener("beforeprint", () => {
  onScreen = document.body.dataset.jpThemeLight;
  document.body.dataset.jpThemeLight = "true";
  fitted = [...document.querySelectorAll(".who-picture")].map(({ shadowRoot }) => shadowRoot.querySelector("svg").style);
  fitted = fitted.map((style) => [style, style.minWidth]);
  for (const [style] of fitted) style.minWidth = "0";
  document.querySelectorAll(".course-held").forEach((held) => (held.open = true)); // paper cannot unfold
  document.querySelectorAll(".book-paper").forEach(openSteps);
});

/** Of a stepper the first step, the one that is opened or in the middle, and the last are on paper. */
function openSteps(paper) {
  const steps = [...paper.querySelectorAll(":scope > details")];
  const landmark = steps.findIndex((step) => step.open);
  const shown = [0, landmark > 0 ? landmark : Math.floor(steps.length / 2), steps.length - 1];
  steps.forEach((step, at) => (step.open = !(step.hidden = !shown.includes(at))));
}

addEventListener("afterprint", () => {
  document.body.dataset.jpThemeLight = onScreen;
  for (const [style, least] of fitted) style.minWidth = least;
});

// Contents: beside the text where there is room, folded above it where there is none.
const contents = document.querySelector(".book-contents");
const wide = matchMedia("(min-width: 1160px)");
const fold = () => (contents.open = wide.matches);
wide.addEventListener("change", fold);
fold();
contents.addEventListener("click", (event) => {
  if (event.target.closest("a") && !wide.matches) contents.open = false;
});

// What scrolls sideways can be reached by the keyboard.
function reach() {
  for (const box of document.querySelectorAll("pre, .book-scroll, .book-map"))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else if (box.tabIndex === 0) box.removeAttribute("tabindex");
}
new ResizeObserver(reach).observe(document.body);

// A word of the glossary says what it means, to the mouse, the keyboard and a finger; Escape closes.
const meaning = document.createElement("div");
Object.assign(meaning, { id: "book-means", className: "book-means", hidden: true });
meaning.setAttribute("role", "tooltip");
document.body.append(meaning);
const hideMeaning = () => (meaning.hidden = true);
function showMeaning({ currentTarget: word }) {
  const spot = word.getBoundingClientRect();
  meaning.textContent = word.dataset.means;
  meaning.hidden = false;
  const left = Math.min(spot.left, document.documentElement.clientWidth - meaning.offsetWidth - 8);
  meaning.style.left = `${Math.max(8, left) + scrollX}px`;
  meaning.style.top = `${spot.bottom + scrollY + 4}px`;
}
for (const word of document.querySelectorAll(".book-word")) {
  word.dataset.means = word.title;
  word.removeAttribute("title"); // a page without scripts shows it
  word.setAttribute("aria-describedby", meaning.id);
  for (const kind of ["mouseenter", "focus", "click"]) word.addEventListener(kind, showMeaning);
  for (const kind of ["mouseleave", "blur"]) word.addEventListener(kind, hideMeaning);
}
addEventListener("keydown", ({ key }) => key === "Escape" && hideMeaning());

// Search: the sections of all chapters, loaded when they are first asked for.
const [dialog, words, results, count] = ["book-search", "book-words", "book-results", "book-count"].map(byId);
const MOST = 30;
const BEFORE = 50; // characters of a snippet before what was found
const ROOM = 200; // characters of a snippet
let index = null;

function loadScript(address) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    Object.assign(script, { src: address, onload: resolve, onerror: reject });
    document.head.append(script);
  });
}

// Words of the glossary first, then sections, then the reference of the verbs.
const boostDocument = (id) => (bookSections[id].level === 0 ? 20 : bookSections[id].page === "instruments" ? 0.05 : 1);

async function makeIndex() {
  await Promise.all(["assets/minisearch.js", "assets/sections.js"].map(loadScript));
  // Names of Python are found whole and by their parts: torch._dynamo, then torch and dynamo.
  const parts = (text) => text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => [word, ...word.split("_")]);
  const found = new MiniSearch({
    fields: ["title", "text"],
    tokenize: (text) => [...new Set(parts(text))].filter(Boolean),
    searchOptions: { prefix: true, fuzzy: (word) => (word.length > 5 ? 0.15 : 0), boost: { title: 4 }, combineWith: "AND", boostDocument },
  });
  found.addAll(bookSections.map((section, id) => ({ id, ...section })));
  return found;
}

/** Text with what was found marked: pieces of text and `mark` elements. */
function marked(text, terms) {
  const safe = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!safe.length) return [text];
  return text.split(new RegExp(`(${safe.join("|")})`, "gi")).map((piece, at) => {
    if (at % 2 === 0) return piece;
    const mark = document.createElement("mark");
    mark.textContent = piece;
    return mark;
  });
}

function snippet(text, terms) {
  const places = terms.map((term) => text.toLowerCase().indexOf(term.toLowerCase())).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - BEFORE);
  const start = places.length ? from : 0;
  return `${start ? "…" : ""}${text.slice(start, start + ROOM)}${text.length > start + ROOM ? "…" : ""}`;
}

function result({ id, terms }) {
  const section = bookSections[id];
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = `${section.page}.html#${section.at}`;
  link.append(...marked(section.title, terms));
  link.addEventListener("click", () => dialog.close());
  const where = document.createElement("p");
  where.className = "book-note";
  where.textContent = section.chapter;
  const said = document.createElement("p");
  said.append(...marked(snippet(section.text, terms), terms));
  item.append(link, where, said);
  return item;
}

async function search() {
  try {
    index ??= makeIndex();
    const [found, asked] = [await index, words.value.trim()];
    const all = asked ? found.search(asked) : [];
    results.replaceChildren(...all.slice(0, MOST).map(result));
    const number = all.length === 1 ? "1 section" : `${all.length} sections`;
    const first = all.length > MOST ? `; the first ${MOST} are shown` : "";
    count.textContent = asked ? `${number} found${first}.` : "";
  } catch {
    index = null;
    count.textContent = "The search could not be loaded.";
  }
}

function openSearch() {
  dialog.showModal();
  words.select();
  search();
}
byId("book-find").addEventListener("click", openSearch);
words.addEventListener("input", search);
words.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault(); // it would close the dialog
  results.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || typing || dialog.open || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  openSearch();
});
