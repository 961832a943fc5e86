const root = this.parentNode, line = root.querySelector(".who-says"), whole = root.querySelector("button");
const [heads, changed] = [[...root.querySelectorAll("[title]")], []];
const [top, usual] = [heads[0].parentNode, "Point at a block. Click or Enter zooms in. Arrow keys move. Escape zooms out."];
const set = (node, name, value) => { changed.push([node, name, node.style[name]]); node.style[name] = value; };
const back = () => { while (changed.length) { const [node, name, value] = changed.pop(); node.style[name] = value; } };
const beside = (block, step) => { do block = block?.[step]; while (block?.style.display === "none"); return block; };
const zoom = (block) => {
  back();
  whole.hidden = block === top;
  for (let one = block; one !== root; one = one.parentNode) {
    if (one.firstElementChild?.dataset.says === undefined) continue;
    set(one, "flex", "1 1 auto");
    for (const other of one.parentNode.children) if (other !== one && other.firstElementChild?.dataset.says) set(other, "display", "none");
    const inner = one.children[1];
    if (inner) set(inner, "display", "flex");
  }
};
const tell = (head) => { line.textContent = head?.dataset.says ?? usual; };
const go = (block) => {
  if (!block?.firstElementChild) return;
  heads.forEach((head) => { head.tabIndex = head.parentNode === block ? 0 : -1; });
  block.firstElementChild.focus();
};
const above = (block) => (block === top ? null : block.parentNode.parentNode);
const moves = {
  ArrowUp: above,
  ArrowDown: (block) => block.children[1]?.checkVisibility?.() && block.children[1].firstElementChild,
  ArrowLeft: (block) => beside(block, "previousElementSibling"),
  ArrowRight: (block) => beside(block, "nextElementSibling"),
};
for (const head of heads) {
  head.dataset.says = head.title;
  head.setAttribute("aria-label", head.title);
  head.setAttribute("role", "button");
  head.removeAttribute("title");
  head.tabIndex = head === heads[0] ? 0 : -1;
  Object.assign(head.style, { cursor: "zoom-in", outlineOffset: "-3px", outlineColor: "currentColor" });
  head.onpointerenter = head.onfocus = () => tell(head);
  head.onpointerleave = head.onblur = () => tell(root.querySelector(":focus-visible[data-says]"));
  head.onclick = () => zoom(head.parentNode);
}
root.dataset.lmSuppressShortcuts = "";
root.onkeydown = (event) => {
  const block = event.target.dataset.says && event.target.parentNode;
  if (event.key === "Escape") { zoom(top); go(block && event.target.checkVisibility() ? block : top); }
  else if (block && (event.key === "Enter" || event.key === " ")) zoom(block);
  else if (block && moves[event.key]) go(moves[event.key](block));
  else return;
  event.preventDefault();
  event.stopPropagation();
};
whole.onclick = () => { zoom(top); go(top); };
tell();
this.remove();
