// Terms with their meanings, in groups -> the same with a field that filters. An `onload` runs it.

const PLACEHOLDER = "Filter: a term, or words of its meaning";
const STYLE =
  "display:block;box-sizing:border-box;width:100%;max-width:26em;margin:0 0 8px;padding:4px 8px;" +
  "font:inherit;color:inherit;background:transparent;border:1px solid currentColor;border-radius:4px";

function addFilter(root) {
  const count = root.querySelector(".who-says span");
  const groups = [...root.querySelectorAll("details")];
  const [all] = count.textContent.split(",");
  const input = document.createElement("input");
  Object.assign(input, { type: "search", placeholder: PLACEHOLDER });
  input.setAttribute("aria-label", "Filter the terms");
  input.style.cssText = STYLE;
  count.setAttribute("role", "status");

  input.oninput = () => {
    const text = input.value.trim().toLowerCase();
    const counts = groups.map((group) => filterGroup(group, text));
    const found = counts.reduce((sum, number) => sum + number, 0);
    count.textContent = text ? `${found} of ${all}` : all;
  };
  root.dataset.lmSuppressShortcuts = "";
  input.onkeydown = (event) => event.stopPropagation();
  count.parentNode.after(input);
}

/** Show the words of a group that contain a text, and return how many they are. */
function filterGroup(group, text) {
  let found = 0;
  for (const word of group.querySelectorAll(".who-word")) {
    const fits = word.textContent.toLowerCase().includes(text);
    word.style.display = fits ? "flex" : "none";
    if (fits) {
      found += 1;
    }
  }
  group.style.display = found ? "" : "none";
  group.open = true;
  return found;
}

addFilter(event.target.parentNode);
event.target.remove();
