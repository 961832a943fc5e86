// Search: the sections of all chapters, loaded when they are first asked for.

import { countFound, cutSnippet, splitFound, splitWords } from "./found_text.js";

const MOST_SHOWN = 30;
const FUZZY_FROM = 6; // letters of a word that is also found with a mistake in it
const BOOST = { word: 20, section: 1, instrument: 0.05 };

/** Open the search by its button, or by the key /; what is typed is searched at once. */
export function offerSearch() {
  const dialog = document.getElementById("book-search");
  const input = document.getElementById("book-words");
  const results = document.getElementById("book-results");
  const count = document.getElementById("book-count");
  let index = null; // a promise of the index

  const search = async () => {
    try {
      index ??= makeIndex();
      const loaded = await index;
      const text = input.value.trim();
      const found = text ? loaded.search(text) : [];
      const shown = found.slice(0, MOST_SHOWN);
      results.replaceChildren(...shown.map((result) => drawResult(result, () => dialog.close())));
      count.textContent = text ? countFound(found.length, MOST_SHOWN) : "";
    } catch {
      index = null;
      count.textContent = "The search could not be loaded.";
    }
  };
  const open = () => {
    dialog.showModal();
    input.select();
    search();
  };
  document.getElementById("book-find").addEventListener("click", open);
  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault(); // it would close the dialog
      results.querySelector("a")?.click();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (!dialog.open && asksForSearch(event)) {
      event.preventDefault();
      open();
    }
  });
}

function asksForSearch({ key, target, ctrlKey, metaKey, altKey }) {
  const isTyping = target.closest?.("input, textarea, select, [contenteditable]");
  return key === "/" && !isTyping && !ctrlKey && !metaKey && !altKey;
}

async function makeIndex() {
  await Promise.all(["assets/minisearch.js", "assets/sections.js"].map(loadScript));
  const index = new MiniSearch({
    fields: ["title", "text"],
    tokenize: splitWords,
    searchOptions: {
      prefix: true,
      fuzzy: (word) => (word.length >= FUZZY_FROM ? 0.15 : 0),
      boost: { title: 4 },
      combineWith: "AND",
      boostDocument: (id) => chooseBoost(bookSections[id]),
    },
  });
  index.addAll(bookSections.map((section, id) => ({ id, ...section })));
  return index;
}

/** Words of the glossary come first, then sections, then the reference of the verbs. */
function chooseBoost({ level, page }) {
  if (level === 0) {
    return BOOST.word;
  }
  return page === "instruments" ? BOOST.instrument : BOOST.section;
}

function loadScript(address) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    Object.assign(script, { src: address, onload: resolve, onerror: reject });
    document.head.append(script);
  });
}

function drawResult({ id, terms }, close) {
  const section = bookSections[id];
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = `${section.page}.html#${section.at}`;
  link.append(...drawFound(section.title, terms));
  link.addEventListener("click", close);
  const chapter = document.createElement("p");
  chapter.className = "book-note";
  chapter.textContent = section.chapter;
  const snippet = document.createElement("p");
  snippet.append(...drawFound(cutSnippet(section.text, terms), terms));
  item.append(link, chapter, snippet);
  return item;
}

/** Return a text with what was found marked. */
function drawFound(text, terms) {
  return splitFound(text, terms).map((piece) => {
    if (!piece.isFound) {
      return piece.text;
    }
    const mark = document.createElement("mark");
    mark.textContent = piece.text;
    return mark;
  });
}
