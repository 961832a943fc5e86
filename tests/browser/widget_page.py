"""A widget -> a page that shows it without JupyterLab, with a model as Jupyter would give it.

In the page: `sent`, what it asked a kernel; `saved`, its last state; `told(name, value)` sets what
a kernel would, and the widget hears of it; `model` is the widget's; `run()` runs the cell again.
"""

import json
import re

from axe_playwright_python.sync_playwright import Axe

PAPER = {"light": "#fff", "dark": "#111"}
DEFAULT_EXPORT = re.compile(r"export \{\s*(\w+) as default\s*\};")  # of a bundle


# State of a kernel -> the page's manager of widgets, as JupyterLab has it.
# `own` is the name of the widget's channel.
KERNELS = {
    "known": "{kernel: {requestCommInfo: async () => ({content: {comms: {[own]: {}}}})}}",
    "restarted": "{kernel: {requestCommInfo: async () => ({content: {comms: {}}})}}",
    "ended while it was asked": "{kernel: {requestCommInfo: async () => { throw new Error(); }}}",
    "busy": "{kernel: {requestCommInfo: () => new Promise(() => {})}}",
    "closed": "{kernel: {requestCommInfo: () => new Promise(() => {})}}",
    "none": "{kernel: null}",
    "cannot be asked": "{}",  # as in front ends other than JupyterLab
    "a page of the book": "undefined",
}


def document(made, *, kernel: str = "known", theme: str = "light", **state) -> str:
    """Return the page of an anywidget, with this state in place of its own.

    `kernel` is one of KERNELS. With "none", saving raises, as for a model without a channel; with
    "closed", sending does, as for one whose channel was closed.
    """
    names = (name for name in made.trait_names(sync=True) if name[0] != "_")
    own = {n: getattr(made, n) for n in names if n not in ("layout", "tabbable", "tooltip")}
    kept = json.dumps({**own, **state}).replace("</", "<\\/")
    play = DEFAULT_EXPORT.sub(r"const widget = \1;", str(made._esm))
    light = str(theme == "light").lower()
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title>
<style>{made._css}</style>
<body data-jp-theme-light="{light}" style="margin:0;padding:10px;background:{PAPER[theme]}">
<main></main><script type="module">{play}
window.sent = [];
window.own = {json.dumps(getattr(made, "own", ""))};
const first = {kept}, kept = {{...first}}, heard = [];
const hear = name => heard.forEach(([word, use]) => word.endsWith(name) && use());
window.told = (name, value) => {{ kept[name] = value; hear(`change:${{name}}`); }};
window.model = {{
  get: name => kept[name],
  set: (name, value) => {{
    Object.assign(kept, typeof name === "string" ? {{[name]: value}} : name);
    if (typeof name === "string") hear(`change:${{name}}`);
  }},
  on: (words, use) => words.split(" ").forEach(word => heard.push([word, use])),
  off: () => {{}},
  save_changes: () => {{
    if ({json.dumps(kernel == "none")}) throw new Error("no kernel");
    window.saved = JSON.parse(JSON.stringify(kept));
  }},
  send: content => {{
    if ({json.dumps(kernel == "closed")}) throw new Error("Cannot send");
    window.sent.push(content);
  }},
  widget_manager: {KERNELS[kernel]},
}};
const draw = () => widget.render({{model: window.model, el: document.querySelector("main")}});
window.run = () => {{
  Object.assign(kept, first);
  heard.length = 0;
  document.querySelector("main").replaceChildren();
  draw();
}};
draw();
</script></body></html>"""


def find_serious(page, part: str | dict | None = None) -> list[str]:
    """Return what axe finds serious or critical in a page or a part of it, one line each."""
    found = Axe().run(page, context=part, options={"preload": False}).response["violations"]
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    return [f"{one['id']}: {node['html'][:200]}" for one in grave for node in one["nodes"]]
