// An image that has come -> the SVG in it, in the colours of the page's theme. An `onload` runs it.

import { makeMask } from "./inline_picture/mask.js";

const SCHEME_ID = "who-scheme";
const SCHEME =
  "[data-jp-theme-light=false] .who-picture,.vscode-dark .who-picture{color-scheme:dark}";

function inlinePicture(image) {
  const text = atob(image.src.split(",")[1]);
  const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (svg.localName !== "svg") {
    return;
  }
  const host = document.createElement("span");
  host.className = "who-picture";
  svg.style.cssText = image.style.cssText;
  svg.setAttribute("aria-label", image.alt);
  host.attachShadow({ mode: "open" }).append(svg);
  addScheme();
  image.replaceWith(host);
  const view = host.parentNode;
  letDrag(host, view);
  fadeEdges(svg, view);
}

/** Let pictures of a dark page be dark. */
function addScheme() {
  if (!document.getElementById(SCHEME_ID)) {
    const sheet = document.createElement("style");
    sheet.id = SCHEME_ID;
    sheet.textContent = SCHEME;
    document.head.append(sheet);
  }
}

function letDrag(host, view) {
  host.onpointermove = (event) => {
    const onText = event.composedPath()[0].localName === "text"; // which can be selected
    if (event.buttons === 1 && !onText) {
      view.scrollLeft -= event.movementX;
    }
  };
}

function fadeEdges(svg, view) {
  const fade = () => {
    svg.style.mask = makeMask(view.scrollLeft, view.clientWidth, view.scrollWidth);
  };
  view.addEventListener("scroll", fade);
  new ResizeObserver(fade).observe(view);
}

inlinePicture(event.target);
