// A line that was left in another way than by going on says how; it has no pointer for it.

const LETTER_WIDTH = 7; // pixels of a letter beside a line, for which there must be room

/** Say beside a line how it was left: by a return, an exception, …; `isNext` if it also runs next. */
export function markDeed(row, deed, isNext, room) {
  const raised = deed.includes("raised");
  const sign = raised ? "✕" : "↩";
  row.classList.add("stage-deed");
  row.classList.toggle("stage-raised", raised);
  if (!isNext) {
    row.children[1].textContent = sign;
  }
  const text = isNext ? `${sign} ${deed}` : deed;
  const code = row.lastChild;
  if (code.offsetLeft + code.offsetWidth + text.length * LETTER_WIDTH <= room) {
    row.dataset.deed = text;
  }
  row.title = deed;
}

/** Remove what `markDeed` wrote. */
export function clearDeed(row) {
  row.classList.remove("stage-deed", "stage-raised");
  delete row.dataset.deed;
  row.removeAttribute("title");
  if (!row.hasAttribute("aria-current")) {
    row.children[1].textContent = "";
  }
}
