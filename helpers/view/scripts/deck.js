// Slides: reveal.js shows them, each is fitted to its size, and exhibits on them live.

import { fitAll, fitHidden, forgetFit, refit } from "./deck/fit.js";

const KEY_OF_D = 68;

function start() {
  setDark(matchMedia("(prefers-color-scheme: dark)").matches);
  watchExhibits();
  const exhibitsLive = waitForExhibits();
  Reveal.on("ready", showSlide);
  Reveal.on("slidechanged", showSlide);
  Reveal.initialize({
    width: 1280,
    height: 720,
    margin: 0,
    center: false,
    hash: true,
    transition: "none",
    slideNumber: "c/t",
    plugins: [RevealNotes],
    pdfSeparateFragments: false,
    keyboardCondition: (event) => !inExhibit(event),
  })
    .then(() => {
      const key = { keyCode: KEY_OF_D, key: "D", description: "Dark or light" };
      Reveal.addKeyBinding(key, () => setDark());
      return exhibitsLive;
    })
    .then(fitSlides);
}

function showSlide({ currentSlide }) {
  fitHidden(currentSlide);
  nameChapter(currentSlide);
}

/** Say of which section a slide is, unless it has a heading itself. */
function nameChapter(slide) {
  const stack = slide.closest("section.stack, section").parentElement;
  const title = stack.querySelector("h1, h2");
  const hasHeading = slide.querySelector("h1, h2");
  document.querySelector(".where").textContent = hasHeading || !title ? "" : title.textContent;
}

/** Make the slides dark or light; without `dark`, what they are not. */
function setDark(dark) {
  const isDark = document.documentElement.classList.toggle("dark", dark);
  document.body.dataset.jpThemeLight = String(!isDark);
}

/** Return a promise that is kept when all exhibits live; the host of the book says so. */
function waitForExhibits() {
  if (!document.querySelector(".book-live")) {
    return Promise.resolve(); // the host is not here
  }
  return new Promise((resolve) => {
    document.addEventListener("book-lives", resolve, { once: true });
  });
}

const sizes = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    if (target.offsetHeight) {
      refit(target.closest(".slides section"));
    }
  }
});

/** Fit a slide again when something is unfolded; Esc gives the keys back to the slides. */
function watchExhibits() {
  const fitToggled = ({ target }) => refit(target.closest(".slides section"));
  document.addEventListener("toggle", fitToggled, true);
  const leaveExhibit = (event) => {
    if (event.key === "Escape" && inExhibit(event)) {
      event.target.blur();
      event.stopPropagation();
    }
  };
  document.addEventListener("keydown", leaveExhibit, true);
}

/** Return whether the focus is in a living exhibit, whose keys are its own. */
function inExhibit(event) {
  return event.target.closest?.(".book-live");
}

function fitSlides() {
  for (const exhibit of document.querySelectorAll(".book-live")) {
    forgetFit(exhibit.closest("section")); // it may have been shown before it lived
    sizes.observe(exhibit);
  }
  fitHidden(Reveal.getCurrentSlide());
  fitAll(document.querySelectorAll(".slides section:not(.stack)"), () => {
    document.documentElement.dataset.ready = "yes";
  });
}

start();
