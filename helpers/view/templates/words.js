const root = this.parentNode, [says, input] = [root.querySelector(".who-says span"), document.createElement("input")];
const [groups, all] = [[...root.querySelectorAll("details")], says.textContent.split(",")[0]];
Object.assign(input, { type: "search", placeholder: "Filter: a term, or words of its meaning" });
input.setAttribute("aria-label", "Filter the terms");
input.style.cssText = "display:block;box-sizing:border-box;width:100%;max-width:26em;margin:0 0 8px;padding:4px 8px;font:inherit;color:inherit;background:transparent;border:1px solid currentColor;border-radius:4px";
says.setAttribute("role", "status");
input.oninput = () => {
  const asked = input.value.trim().toLowerCase();
  let found = 0;
  for (const group of groups) {
    const fits = [...group.querySelectorAll(".who-word")].filter((word) => {
      const fit = word.textContent.toLowerCase().includes(asked);
      word.style.display = fit ? "flex" : "none";
      return fit;
    });
    found += fits.length;
    group.style.display = fits.length ? "" : "none";
    group.open = true;
  }
  says.textContent = asked ? `${found} of ${all}` : all;
};
root.dataset.lmSuppressShortcuts = "";
input.onkeydown = (event) => event.stopPropagation();
says.parentNode.after(input);
this.remove();
