// A tree of calls as blocks below each other -> one that is zoomed and read. An `onload` runs it.

import { findMove, isShown } from "./call_tree/moves.js";

const USUAL = "Point at a block. Click or Enter zooms in. Arrow keys move. Escape zooms out.";
const HEAD_STYLE = { cursor: "zoom-in", outlineOffset: "-3px", outlineColor: "currentColor" };

function openTree(root) {
  const line = root.querySelector(".who-says");
  const whole = root.querySelector("button");
  const heads = [...root.querySelectorAll("[title]")];
  const top = heads[0].parentNode;
  const styles = makeStyles();

  const say = (head) => {
    line.textContent = head?.dataset.says ?? USUAL;
  };
  const zoom = (block) => {
    styles.restore();
    whole.hidden = block === top;
    zoomTo(block, root, styles);
  };
  const zoomOut = () => zoom(top);
  const focus = (block) => {
    if (block?.firstElementChild) {
      focusHead(heads, block.firstElementChild);
    }
  };
  for (const head of heads) {
    prepareHead(head, head === heads[0]);
    const sayHead = () => say(head);
    const sayFocused = () => say(root.querySelector(":focus-visible[data-says]"));
    head.onpointerenter = sayHead;
    head.onfocus = sayHead;
    head.onpointerleave = sayFocused;
    head.onblur = sayFocused;
    head.onclick = () => zoom(head.parentNode);
  }
  root.dataset.lmSuppressShortcuts = "";
  root.onkeydown = (event) => {
    const head = event.target;
    const block = head.dataset.says && head.parentNode;
    const move = block && findMove(event.key);
    if (event.key === "Escape") {
      zoomOut();
      focus(block && isShown(head) ? block : top);
    } else if (block && (event.key === "Enter" || event.key === " ")) {
      zoom(block);
    } else if (move) {
      focus(move(block, top));
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  whole.onclick = () => {
    zoomOut();
    focus(top);
  };
  say();
}

function prepareHead(head, isFirst) {
  head.dataset.says = head.title;
  head.setAttribute("aria-label", head.title);
  head.setAttribute("role", "button");
  head.removeAttribute("title");
  head.tabIndex = isFirst ? 0 : -1;
  Object.assign(head.style, HEAD_STYLE);
}

/** Give the focus to a head; the tab key comes back to it. */
function focusHead(heads, head) {
  for (const other of heads) {
    other.tabIndex = other === head ? 0 : -1;
  }
  head.focus();
}

/** Give a block the whole width, as well as all that it is in. */
function zoomTo(block, root, styles) {
  for (let part = block; part !== root; part = part.parentNode) {
    if (part.firstElementChild?.dataset.says === undefined) {
      continue;
    }
    styles.set(part, "flex", "1 1 auto");
    for (const other of part.parentNode.children) {
      if (other !== part && other.firstElementChild?.dataset.says) {
        styles.set(other, "display", "none");
      }
    }
    const inner = part.children[1];
    if (inner) {
      styles.set(inner, "display", "flex");
    }
  }
}

/** Return what sets styles, and restores all that it has set. */
function makeStyles() {
  const changed = [];
  const set = (element, name, value) => {
    changed.push({ element, name, value: element.style[name] });
    element.style[name] = value;
  };
  const restore = () => {
    while (changed.length) {
      const { element, name, value } = changed.pop();
      element.style[name] = value;
    }
  };
  return { set, restore };
}

openTree(event.target.parentNode);
event.target.remove();
