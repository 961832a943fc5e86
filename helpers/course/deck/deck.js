// Each slide is fitted to its 1280 x 720: the largest text and exhibit that fit, code beside its picture or above it.
const SIZES = [ // of prose and code in pixels, and the zoom of an exhibit
  [28, 20, 1.6], [28, 20, 1.45], [26, 19, 1.3], [24, 18, 1.2], [22, 17, 1.1], [20, 16, 1], [18, 14, 1], [18, 14, 0.9], [18, 14, 0.8], [18, 14, 0.75],
];
const LAYOUTS = [["beside", "above"], ["alone"]]; // where nothing else fits an exhibit stands without its code

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

// Whether all that stands in a body is inside of it.
function isInside(body) {
  const own = [...body.children].map((node) => node.offsetHeight).filter((height) => height);
  const high = own.reduce((sum, height) => sum + height, 14 * (own.length - 1));
  const parts = [body, ...body.querySelectorAll("[role=region], pre, .jp-OutputArea-output, .course-picture-window")];
  return high <= body.clientHeight && !parts.some((node) => !node.closest(".course-stage") && node.scrollWidth > node.clientWidth + 1);
}

function fit(section) {
  if (section.dataset.fitted) return;
  const body = wrapped(section);
  section.dataset.fitted = "yes";
  for (const layouts of LAYOUTS)
    for (const [prose, code, zoom] of SIZES) {
      const sizes = { "--prose": `${prose}px`, "--code": `${code}px`, "--exhibit": zoom };
      for (const [name, value] of Object.entries(sizes)) section.style.setProperty(name, value);
      for (const layout of layouts) {
        section.dataset.layout = layout;
        if (isInside(body)) return;
      }
    }
}

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
