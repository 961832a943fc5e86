// Contents: beside the text where there is room, folded above it where there is none.

/** Unfold the contents where there is room for them, and fold them when one of them is chosen. */
export function foldContents() {
  const contents = document.querySelector(".book-contents");
  const wide = matchMedia("(min-width: 1160px)");
  const fold = () => {
    contents.open = wide.matches;
  };
  wide.addEventListener("change", fold);
  contents.addEventListener("click", (event) => {
    if (event.target.closest("a") && !wide.matches) {
      contents.open = false;
    }
  });
  fold();
}
