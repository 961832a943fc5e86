"""A widget's state -> HTML in which it lives without a kernel; an exhibit -> a page of its own.

A page has each script and style sheet of anywidgets once, and `widgets/host.js` runs them.
"""

import json

from markupsafe import Markup, escape

from . import ink
from .markup import render
from .widgets import read

OURS = ("layout", "tabbable", "tooltip", "own")  # for a kernel, and nothing for a page


class Living:
    """The widgets of one page: `scripts` and `styles` without repetition."""

    def __init__(self):
        self.scripts: list[str] = []
        self.styles: list[str] = []

    def enliven(self, state: dict, still: str, record: dict | None) -> str:
        """Return HTML of a widget with this state, over its `still` form.

        `record`: what a kernel would answer, and a `note` on it; None for one that asks nothing.
        """
        style = state.get("_css", "")
        self.scripts += [state["_esm"]] * (state["_esm"] not in self.scripts)
        self.styles += [style] * (style not in self.styles)
        told = {
            "script": self.scripts.index(state["_esm"]),
            "classes": state.get("_dom_classes", []),
            "state": {k: v for k, v in state.items() if not k.startswith("_") and k not in OURS},
            "recorded": record,
        }
        note = f'<p class="book-note">{escape(record["note"])}</p>' if record else ""
        return (
            f'<div class="book-live"><script type="application/json">{as_script(told)}</script>'
            f'<div class="book-still">{still}</div>{note}</div>'
        )


def as_script(told) -> str:
    """Return JSON that cannot end the `<script>` around it."""
    words = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return words.replace("<", "\\u003c")


def living_page(title: str, still: str, state: dict, record: dict | None) -> str:
    """Return a whole page of one exhibit; without a `state` it stands still."""
    living = Living()
    shown = living.enliven(state, still, record) if state else still
    values = {"shown": Markup(shown), "scripts": Markup(as_script(living.scripts))}
    styles = (ink.render_stylesheet(), read("page.css"), *living.styles)
    values["styles"] = Markup("\n".join(styles))
    return render("living.html", title=title, host=Markup(read("host.js")), **values)
