// Each slide is fitted to its 1280 x 720: the largest text of a range that fits; else its largest part scrolls.
const SIZES = [[28, 20], [26, 19], [24, 18], [22, 17], [20, 16], [19, 15], [18, 14]]; // of prose and code
const ZOOMS = [1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1]; // of an exhibit; never under what SMALLEST asks
const SMALLEST = 14; // pixels of text
const EXHIBIT = ".jp-RenderedHTMLCommon.jp-OutputArea-output";

function wrapped(section) {
  let body = section.querySelector(":scope > .body");
  if (!body) {
    body = document.createElement("div");
    body.className = "body";
    const notes = [...section.children].filter((node) => node.matches("aside.notes"));
    body.append(...[...section.childNodes].filter((node) => !notes.includes(node)));
    section.prepend(body);
  }
  return body;
}

function unscrolled(body) {
  body.querySelectorAll(":scope > .more").forEach((node) => node.remove());
  for (const node of body.querySelectorAll(":scope > .scrolls")) {
    node.classList.remove("scrolls");
    ["tabindex", "role", "aria-label"].forEach((name) => node.removeAttribute(name));
  }
  return body;
}

// Whether what stands in a body is no taller than it, in pixels of a slide.
function isLow(body) {
  const own = [...body.children].map((node) => node.offsetHeight).filter((height) => height);
  return own.reduce((sum, height) => sum + height, 14 * (own.length - 1)) <= body.clientHeight;
}

const isWide = (node) => node.scrollWidth > node.clientWidth + 1;
const wideParts = (body) => [body, ...body.querySelectorAll("[role=region]:not(.stage-pane), pre")].filter(isWide);

function smallestText(root) {
  let least = Infinity;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.getClientRects().length) continue;
    if (node.closest(".course-stage")) continue; // all of it is to be seen at once, its buttons too
    const drawing = node.closest("svg");
    const scale = drawing && drawing.getScreenCTM && node.getScreenCTM ? node.getScreenCTM().a / pageScale() : 1;
    least = Math.min(least, parseFloat(getComputedStyle(node).fontSize) * scale);
  }
  for (const image of root.querySelectorAll("img[src*='svg+xml;base64,']"))
    least = Math.min(least, drawnText(image) * image.offsetWidth / (image.naturalWidth || image.offsetWidth));
  return least;
}

// The smallest text in a picture, by the sizes that its source names.
function drawnText(image) {
  const source = atob(image.src.split("base64,")[1]);
  const sizes = [...source.matchAll(/font(?:-size)?[:=]["']?[^;"'}]*?([\d.]+)(?=px|["'])/g)];
  return Math.min(Infinity, ...sizes.map((size) => parseFloat(size[1])));
}

const pageScale = () => Reveal.getScale() || 1;

function fit(section) {
  if (section.dataset.fitted) return;
  const body = unscrolled(wrapped(section));
  const set = (name, value) => section.style.setProperty(name, value);
  const exhibits = [...section.querySelectorAll(EXHIBIT)];
  set("--exhibit", 1);
  const floor = Math.max(1, SMALLEST / Math.min(16, ...exhibits.map(smallestText)));
  const zooms = exhibits.length ? [...ZOOMS.filter((zoom) => zoom > floor), floor] : [1];
  section.dataset.fitted = "yes";
  for (const zoom of zooms) {
    set("--exhibit", zoom);
    if (isLow(body) && !wideParts(body).length) break;
  }
  for (const [prose, code] of SIZES) {
    set("--prose", `${prose}px`);
    set("--code", `${code}px`);
    // An exhibit that is wide scrolls in itself, and is shaded there.
    if (isLow(body) && !isWide(body)) return;
  }
  scroll(section, body);
}

// The tallest part gets what room the others leave.
function scroll(section, body) {
  const parts = [...body.children].filter((node) => node.offsetHeight);
  const [tallest] = [...parts].sort((a, b) => b.offsetHeight - a.offsetHeight);
  const more = document.createElement("p");
  more.className = "more";
  more.textContent = `there is more below${wideParts(tallest).length ? " and to the right" : ""}: scroll`;
  tallest.after(more);
  const others = parts.filter((node) => node !== tallest).reduce((sum, node) => sum + node.offsetHeight + 14, 0);
  tallest.classList.add("scrolls");
  tallest.tabIndex = 0;
  tallest.setAttribute("role", "region");
  tallest.setAttribute("aria-label", "longer than the slide: scroll");
  tallest.style.setProperty("--room", `${body.clientHeight - others - more.offsetHeight - 28}px`);
}

// Inside a part that scrolls these keys are for it, elsewhere for the slides.
document.addEventListener("keydown", (event) => {
  const way = { ArrowDown: 80, ArrowUp: -80, PageDown: 400, PageUp: -400 }[event.key];
  const part = event.target.closest?.(".scrolls");
  if (!way || !part) return;
  part.scrollBy(0, way);
  event.stopPropagation();
  event.preventDefault();
}, true);

function refit(section) {
  if (!section?.dataset.fitted) return;
  delete section.dataset.fitted;
  fitHidden(section);
}

// What is unfolded takes room, and so does what an exhibit answers.
document.addEventListener("toggle", (event) => refit(event.target.closest(".slides section")), true);
const sizes = new ResizeObserver((changes) => {
  for (const { target } of changes) if (target.offsetHeight) refit(target.closest(".slides section"));
});

// While a living exhibit has the focus keys are its own; Esc gives them back.
const inExhibit = (event) => event.target.closest?.(".book-live");
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !inExhibit(event)) return;
  event.target.blur();
  event.stopPropagation();
}, true);

// A slide that reveal.js does not show yet has no size: it is shown while it is measured.
function fitHidden(section) {
  const shown = [section, section.parentElement].filter((node) => node.matches("section"));
  const before = shown.map((node) => [node.style.display, node.hidden]);
  shown.forEach((node) => ((node.style.display = "block"), (node.hidden = false)));
  fit(section);
  shown.forEach((node, at) => ([node.style.display, node.hidden] = before[at]));
}

function tellWhere({ currentSlide }) {
  const title = currentSlide.closest("section.stack, section").parentElement.querySelector("h1, h2");
  const here = currentSlide.querySelector("h1, h2");
  document.querySelector(".where").textContent = here || !title ? "" : title.textContent;
}

function onSlide(event) {
  fitHidden(event.currentSlide);
  tellWhere(event);
}

function dark(yes) {
  document.body.dataset.jpThemeLight = String(!document.documentElement.classList.toggle("dark", yes));
}
dark(matchMedia("(prefers-color-scheme: dark)").matches);

// The book's host says when all exhibits live; where there are none it is not here.
const alive = document.querySelector(".book-live")
  ? new Promise((resolve) => document.addEventListener("book-lives", resolve, { once: true }))
  : Promise.resolve();

Reveal.on("ready", onSlide);
Reveal.on("slidechanged", onSlide);
Reveal.initialize({
  width: 1280, height: 720, margin: 0, center: false, hash: true, transition: "none",
  slideNumber: "c/t", plugins: [RevealNotes], pdfSeparateFragments: false,
  keyboardCondition: (event) => !inExhibit(event),
}).then(() => {
  Reveal.addKeyBinding({ keyCode: 68, key: "D", description: "Dark or light" }, () => dark());
  return alive;
}).then(() => {
  for (const exhibit of document.querySelectorAll(".book-live")) {
    delete exhibit.closest("section").dataset.fitted; // it may have been shown before it lived
    sizes.observe(exhibit);
  }
  fitHidden(Reveal.getCurrentSlide());
  fitAll([...document.querySelectorAll(".slides section:not(.stack)")]);
});

// A little at a time: the first slide is there, and answers, while the others are fitted.
function fitAll(rest) {
  const until = performance.now() + 30;
  while (rest.length && performance.now() < until) fitHidden(rest.shift());
  if (rest.length) setTimeout(fitAll, 0, rest);
  else document.documentElement.dataset.ready = "yes";
}
