"""A widget -> a page that shows it without JupyterLab, with a model as Jupyter would give it.

In the page: `sent`, what it asked a kernel; `saved`, its last state; `told(name, value)` sets what
a kernel would, and the widget hears of it.
"""

import json


def document(made, *, kernel: bool = True, **state) -> str:
    """Return the page of an anywidget, with this state in place of its own.

    Without a `kernel`, saving raises, as for a model whose kernel is gone.
    """
    names = (name for name in made.trait_names(sync=True) if name[0] != "_")
    own = {n: getattr(made, n) for n in names if n not in ("layout", "tabbable", "tooltip")}
    play = str(made._esm).replace("export default", "const widget =")
    return f"""<!doctype html><style>{made._css}</style><body style="margin:0"><main></main>
<script type="module">{play}
window.sent = [];
const kept = {json.dumps({**own, **state})}, heard = new Map();
window.told = (name, value) => {{ kept[name] = value; heard.get(`change:${{name}}`)?.(); }};
const model = {{
  get: name => kept[name],
  set: (name, value) => Object.assign(kept, typeof name === "string" ? {{[name]: value}} : name),
  on: (words, hear) => words.split(" ").forEach(word => heard.set(word, hear)),
  off: () => {{}},
  save_changes: () => {{
    if (!{json.dumps(kernel)}) throw new Error("no kernel");
    window.saved = JSON.parse(JSON.stringify(kept));
  }},
  send: content => window.sent.push(content),
}};
widget.render({{model, el: document.querySelector("main")}});
</script>"""
