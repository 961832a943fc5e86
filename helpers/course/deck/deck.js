// Bundled by tools/bundle_scripts.py from helpers/view/scripts/deck.js, sha256 4a9ead145f9f8a63177db5c6f14ea0f7f0a42797a2ffcf60a23e9029c55dfd2e
(() => {
  // deck/fit.js
  var SIZES = [
    [28, 20, 1.6],
    [28, 20, 1.45],
    [26, 19, 1.3],
    [24, 18, 1.2],
    [22, 17, 1.1],
    [20, 16, 1],
    [18, 14, 1],
    [18, 14, 0.9],
    [18, 14, 0.8],
    [18, 14, 0.75]
  ];
  var LAYOUTS = [["beside", "above"], ["alone"]];
  var GAP = 14;
  var PARTS = "[role=region], pre, .jp-OutputArea-output, .course-picture-window";
  var AT_ONCE = 30;
  function fitHidden(section) {
    const shown = [section, section.parentElement].filter((element) => element.matches("section"));
    const before = shown.map(({ style, hidden }) => ({ display: style.display, hidden }));
    for (const element of shown) {
      element.style.display = "block";
      element.hidden = false;
    }
    fit(section);
    shown.forEach((element, at) => {
      element.style.display = before[at].display;
      element.hidden = before[at].hidden;
    });
  }
  function refit(section) {
    if (section?.dataset.fitted) {
      forgetFit(section);
      fitHidden(section);
    }
  }
  function forgetFit(section) {
    delete section.dataset.fitted;
  }
  function fitAll(sections, done) {
    const rest = [...sections];
    const until = performance.now() + AT_ONCE;
    while (rest.length && performance.now() < until) {
      fitHidden(rest.shift());
    }
    if (rest.length) {
      setTimeout(fitAll, 0, rest, done);
    } else {
      done();
    }
  }
  function fit(section) {
    if (section.dataset.fitted) {
      return;
    }
    const body = wrapBody(section);
    section.dataset.fitted = "yes";
    for (const layouts of LAYOUTS) {
      for (const [prose, code, zoom] of SIZES) {
        section.style.setProperty("--prose", `${prose}px`);
        section.style.setProperty("--code", `${code}px`);
        section.style.setProperty("--exhibit", zoom);
        for (const layout of layouts) {
          section.dataset.layout = layout;
          if (isInside(body)) {
            return;
          }
        }
      }
    }
  }
  function wrapBody(section) {
    const existing = section.querySelector(":scope > .body");
    if (existing) {
      return existing;
    }
    const body = document.createElement("div");
    body.className = "body";
    const notes = [...section.children].filter((element) => element.matches("aside.notes"));
    body.append(...[...section.childNodes].filter((node) => !notes.includes(node)));
    section.prepend(body);
    return body;
  }
  function isInside(body) {
    const heights = [...body.children].map(({ offsetHeight }) => offsetHeight).filter(Boolean);
    const total = heights.reduce((sum, height) => sum + height, GAP * (heights.length - 1));
    const parts = [body, ...body.querySelectorAll(PARTS)];
    return total <= body.clientHeight && !parts.some(isTooWide);
  }
  function isTooWide(part) {
    return !part.closest(".course-stage") && part.scrollWidth > part.clientWidth + 1;
  }

  // deck.js
  var KEY_OF_D = 68;
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
      keyboardCondition: (event) => !inExhibit(event)
    }).then(() => {
      const key = { keyCode: KEY_OF_D, key: "D", description: "Dark or light" };
      Reveal.addKeyBinding(key, () => setDark());
      return exhibitsLive;
    }).then(fitSlides);
  }
  function showSlide({ currentSlide }) {
    fitHidden(currentSlide);
    nameChapter(currentSlide);
  }
  function nameChapter(slide) {
    const stack = slide.closest("section.stack, section").parentElement;
    const title = stack.querySelector("h1, h2");
    const hasHeading = slide.querySelector("h1, h2");
    document.querySelector(".where").textContent = hasHeading || !title ? "" : title.textContent;
  }
  function setDark(dark) {
    const isDark = document.documentElement.classList.toggle("dark", dark);
    document.body.dataset.jpThemeLight = String(!isDark);
  }
  function waitForExhibits() {
    if (!document.querySelector(".book-live")) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      document.addEventListener("book-lives", resolve, { once: true });
    });
  }
  var sizes = new ResizeObserver((changes) => {
    for (const { target } of changes) {
      if (target.offsetHeight) {
        refit(target.closest(".slides section"));
      }
    }
  });
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
  function inExhibit(event) {
    return event.target.closest?.(".book-live");
  }
  function fitSlides() {
    for (const exhibit of document.querySelectorAll(".book-live")) {
      forgetFit(exhibit.closest("section"));
      sizes.observe(exhibit);
    }
    fitHidden(Reveal.getCurrentSlide());
    fitAll(document.querySelectorAll(".slides section:not(.stack)"), () => {
      document.documentElement.dataset.ready = "yes";
    });
  }
  start();
})();
