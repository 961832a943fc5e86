// A word of the glossary says what it means, to the mouse, the keyboard and a finger.

const EDGE = 8; // pixels between what is shown and the edge of the page
const GAP = 4; // pixels between the word and what it means

/** Show the meaning of a word beside it; Escape closes it. */
export function explainWords() {
  const meaning = document.createElement("div");
  Object.assign(meaning, { id: "book-means", className: "book-means", hidden: true });
  meaning.setAttribute("role", "tooltip");
  document.body.append(meaning);

  const show = ({ currentTarget }) => showMeaning(meaning, currentTarget);
  const hide = () => {
    meaning.hidden = true;
  };
  for (const word of document.querySelectorAll(".book-word")) {
    word.dataset.means = word.title;
    word.removeAttribute("title"); // a page without scripts shows it
    word.setAttribute("aria-describedby", meaning.id);
    for (const event of ["mouseenter", "focus", "click"]) {
      word.addEventListener(event, show);
    }
    for (const event of ["mouseleave", "blur"]) {
      word.addEventListener(event, hide);
    }
  }
  addEventListener("keydown", ({ key }) => {
    if (key === "Escape") {
      hide();
    }
  });
}

function showMeaning(meaning, word) {
  const place = word.getBoundingClientRect();
  meaning.textContent = word.dataset.means;
  meaning.hidden = false;
  const last = document.documentElement.clientWidth - meaning.offsetWidth - EDGE;
  meaning.style.left = `${Math.max(EDGE, Math.min(place.left, last)) + scrollX}px`;
  meaning.style.top = `${place.bottom + scrollY + GAP}px`;
}
