// Bundled by tools/bundle_scripts.py from helpers/view/scripts/book.js, sha256 66090abb5d464699c64b1579faf3630a9525853c604ded28e09ba8fea041da96
(() => {
  // book/contents.js
  function foldContents() {
    const contents = document.querySelector(".book-contents");
    const wide = matchMedia("(min-width: 1160px)");
    const fold = () => {
      contents.open = wide.matches;
    };
    wide.addEventListener("change", fold);
    contents.addEventListener("click", (event) => {
      if (event.target.closest("a") && !wide.matches) {
        contents.open = false;
      }
    });
    fold();
  }

  // book/glossary.js
  var EDGE = 8;
  var GAP = 4;
  function explainWords() {
    const meaning = document.createElement("div");
    Object.assign(meaning, { id: "book-means", className: "book-means", hidden: true });
    meaning.setAttribute("role", "tooltip");
    document.body.append(meaning);
    const show = ({ currentTarget }) => showMeaning(meaning, currentTarget);
    const hide = () => {
      meaning.hidden = true;
    };
    for (const word of document.querySelectorAll(".book-word")) {
      word.dataset.means = word.title;
      word.removeAttribute("title");
      word.setAttribute("aria-describedby", meaning.id);
      for (const event of ["mouseenter", "focus", "click"]) {
        word.addEventListener(event, show);
      }
      for (const event of ["mouseleave", "blur"]) {
        word.addEventListener(event, hide);
      }
    }
    addEventListener("keydown", ({ key }) => {
      if (key === "Escape") {
        hide();
      }
    });
  }
  function showMeaning(meaning, word) {
    const place = word.getBoundingClientRect();
    meaning.textContent = word.dataset.means;
    meaning.hidden = false;
    const last = document.documentElement.clientWidth - meaning.offsetWidth - EDGE;
    meaning.style.left = `${Math.max(EDGE, Math.min(place.left, last)) + scrollX}px`;
    meaning.style.top = `${place.bottom + scrollY + GAP}px`;
  }

  // book/paper.js
  function preparePaper() {
    let theme = null;
    let pictures = [];
    addEventListener("beforeprint", () => {
      theme = document.body.dataset.jpThemeLight;
      document.body.dataset.jpThemeLight = "true";
      pictures = [...document.querySelectorAll(".who-picture")].map(({ shadowRoot }) => {
        const { style } = shadowRoot.querySelector("svg");
        return { style, minWidth: style.minWidth };
      });
      for (const { style } of pictures) {
        style.minWidth = "0";
      }
      for (const details of document.querySelectorAll(".course-held")) {
        details.open = true;
      }
      for (const stepper of document.querySelectorAll(".book-paper")) {
        openSteps(stepper);
      }
    });
    addEventListener("afterprint", () => {
      document.body.dataset.jpThemeLight = theme;
      for (const { style, minWidth } of pictures) {
        style.minWidth = minWidth;
      }
    });
  }
  function openSteps(stepper) {
    const steps = [...stepper.querySelectorAll(":scope > details")];
    const opened = steps.findIndex((step) => step.open);
    const middle = opened > 0 ? opened : Math.floor(steps.length / 2);
    const shown = [0, middle, steps.length - 1];
    steps.forEach((step, at) => {
      step.open = shown.includes(at);
      step.hidden = !step.open;
    });
  }

  // book/scrolling.js
  var BOXES = "pre, .book-scroll, .book-map";
  function letReachScrolling() {
    new ResizeObserver(reachBoxes).observe(document.body);
  }
  function reachBoxes() {
    for (const box of document.querySelectorAll(BOXES)) {
      if (box.scrollWidth > box.clientWidth) {
        box.tabIndex = 0;
      } else if (box.tabIndex === 0) {
        box.removeAttribute("tabindex");
      }
    }
  }

  // book/found_text.js
  var ROOM = 200;
  var BEFORE = 50;
  function splitWords(text) {
    const words = text.split(/[^\p{L}\p{N}_]+/u);
    const parts = words.flatMap((word) => [word, ...word.split("_")]);
    return [...new Set(parts)].filter(Boolean);
  }
  function splitFound(text, terms) {
    const escaped = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    if (!escaped.length) {
      return [{ text, isFound: false }];
    }
    const pieces = text.split(new RegExp(`(${escaped.join("|")})`, "gi"));
    return pieces.map((piece, i) => ({ text: piece, isFound: i % 2 === 1 }));
  }
  function cutSnippet(text, terms) {
    const lower = text.toLowerCase();
    const places = terms.map((term) => lower.indexOf(term.toLowerCase())).filter((at) => at >= 0);
    const start = places.length ? Math.max(0, Math.min(...places) - BEFORE) : 0;
    const end = start + ROOM;
    return `${start ? "…" : ""}${text.slice(start, end)}${text.length > end ? "…" : ""}`;
  }
  function countFound(number, most) {
    const sections = number === 1 ? "1 section" : `${number} sections`;
    return number > most ? `${sections} found; the first ${most} are shown.` : `${sections} found.`;
  }

  // book/search.js
  var MOST_SHOWN = 30;
  var FUZZY_FROM = 6;
  var BOOST = { word: 20, section: 1, instrument: 0.05 };
  function offerSearch() {
    const dialog = document.getElementById("book-search");
    const input = document.getElementById("book-words");
    const results = document.getElementById("book-results");
    const count = document.getElementById("book-count");
    let index = null;
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
        event.preventDefault();
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
        fuzzy: (word) => word.length >= FUZZY_FROM ? 0.15 : 0,
        boost: { title: 4 },
        combineWith: "AND",
        boostDocument: (id) => chooseBoost(bookSections[id])
      }
    });
    index.addAll(bookSections.map((section, id) => ({ id, ...section })));
    return index;
  }
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

  // book/theme.js
  function offerThemes() {
    const button = document.getElementById("book-theme");
    const show = () => button.setAttribute("aria-pressed", String(isDark()));
    button.addEventListener("click", () => {
      document.body.dataset.jpThemeLight = String(isDark());
      store("book-theme", isDark() ? "dark" : "light");
      show();
    });
    show();
  }
  function isDark() {
    return document.body.dataset.jpThemeLight === "false";
  }
  function store(name, value) {
    try {
      localStorage.setItem(name, value);
    } catch {
    }
  }

  // book.js
  offerThemes();
  preparePaper();
  foldContents();
  letReachScrolling();
  explainWords();
  offerSearch();
})();
