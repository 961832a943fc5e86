const data = Uint8Array.from(atob(this.src.split(",")[1]), (c) => c.charCodeAt());
const read = new DOMParser().parseFromString(new TextDecoder().decode(data), "image/svg+xml");
const svg = read.documentElement;
if (svg.localName === "svg") {
  const host = document.createElement("span");
  host.className = "who-picture";
  svg.style.cssText = this.style.cssText;
  svg.setAttribute("aria-label", this.alt);
  host.attachShadow({ mode: "open" }).append(svg);
  host.onpointermove = (e) => {
    if (e.buttons === 1 && e.composedPath()[0].localName !== "text")
      host.parentNode.scrollLeft -= e.movementX;
  };
  if (!document.getElementById("who-scheme")) {
    const sheet = document.createElement("style");
    sheet.id = "who-scheme";
    sheet.textContent =
      "[data-jp-theme-light=false] .who-picture,.vscode-dark .who-picture{color-scheme:dark}";
    document.head.append(sheet);
  }
  this.replaceWith(host);
  const view = host.parentNode;
  const fade = () => {
    const [left, seen] = [view.scrollLeft, view.clientWidth];
    const start = left > 1 ? left : -36;
    const end = left + seen < view.scrollWidth - 1 ? left + seen : view.scrollWidth + 36;
    const part = `transparent ${start}px,black ${start + 36}px,black ${end - 36}px,transparent ${end}px`;
    svg.style.maskImage = view.scrollWidth > seen + 1 ? `linear-gradient(to right,${part})` : "";
  };
  view.addEventListener("scroll", fade, { passive: true });
  new ResizeObserver(fade).observe(view);
}
