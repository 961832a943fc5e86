const text = atob(this.src.split(",")[1]);
const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
if (svg.localName === "svg") {
  const host = document.createElement("span");
  host.className = "who-picture";
  svg.style.cssText = this.style.cssText;
  svg.setAttribute("aria-label", this.alt);
  host.attachShadow({ mode: "open" }).append(svg);
  if (!document.getElementById("who-scheme")) {
    const sheet = document.createElement("style");
    sheet.id = "who-scheme";
    sheet.textContent =
      "[data-jp-theme-light=false] .who-picture,.vscode-dark .who-picture{color-scheme:dark}";
    document.head.append(sheet);
  }
  this.replaceWith(host);
  const view = host.parentNode;
  host.onpointermove = (e) => {
    if (e.buttons === 1 && e.composedPath()[0].localName !== "text") view.scrollLeft -= e.movementX;
  };
  const fade = () => {
    const [start, wide] = [view.scrollLeft, view.scrollWidth];
    const end = start + view.clientWidth;
    const [a, b] = [start > 1 ? start : -36, end < wide - 1 ? end : wide + 36];
    svg.style.mask = `linear-gradient(90deg,transparent ${a}px,black ${a + 36}px ${b - 36}px,transparent ${b}px)`;
  };
  view.addEventListener("scroll", fade);
  new ResizeObserver(fade).observe(view);
}
