// A slide of 1280 x 720 -> the largest text and exhibit that fit, code beside its picture or above it.

// of prose and code in pixels, and the zoom of an exhibit
const SIZES = [
  [28, 20, 1.6],
  [28, 20, 1.45],
  [26, 19, 1.3],
  [24, 18, 1.2],
  [22, 17, 1.1],
  [20, 16, 1],
  [18, 14, 1],
  [18, 14, 0.9],
  [18, 14, 0.8],
  [18, 14, 0.75],
];
// where nothing else fits, an exhibit stands without its code
const LAYOUTS = [["beside", "above"], ["alone"]];
const GAP = 14; // pixels between the parts of a slide
const PARTS = "[role=region], pre, .jp-OutputArea-output, .course-picture-window";
const AT_ONCE = 30; // milliseconds of fitting, after which the page may answer

/** Fit a slide; reveal.js gives one that it does not show no size, so it is shown meanwhile. */
export function fitHidden(section) {
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

/** Fit a slide again, if it was fitted before: what is on it has another size. */
export function refit(section) {
  if (section?.dataset.fitted) {
    forgetFit(section);
    fitHidden(section);
  }
}

/** Let a slide be fitted again when it is next asked for. */
export function forgetFit(section) {
  delete section.dataset.fitted;
}

/** Fit slides a little at a time: the first one is there, and answers, while others are fitted. */
export function fitAll(sections, done) {
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

/** Return the box around all of a slide but its notes. */
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

/** Return whether all that stands in a body is inside of it. */
function isInside(body) {
  const heights = [...body.children].map(({ offsetHeight }) => offsetHeight).filter(Boolean);
  const total = heights.reduce((sum, height) => sum + height, GAP * (heights.length - 1));
  const parts = [body, ...body.querySelectorAll(PARTS)];
  return total <= body.clientHeight && !parts.some(isTooWide);
}

function isTooWide(part) {
  return !part.closest(".course-stage") && part.scrollWidth > part.clientWidth + 1;
}
