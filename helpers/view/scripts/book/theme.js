// Theme: the reader's system decides until the button does.

/** Let the button of the page change its theme, and keep what is chosen. */
export function offerThemes() {
  const button = document.getElementById("book-theme");
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => {
    document.body.dataset.jpThemeLight = String(isDark());
    store("book-theme", isDark() ? "dark" : "light");
    show();
  });
  show();
}

function isDark() {
  return document.body.dataset.jpThemeLight === "false";
}

function store(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // a page that may keep nothing shows the theme all the same
  }
}
