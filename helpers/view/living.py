"""A widget's state -> HTML in which it lives without a kernel; an exhibit -> a page of its own.

A page has each script and style sheet of anywidgets once, and `scripts/host.js` runs them.
"""

import json

from markupsafe import Markup, escape

from . import ink
from .markup import render
from .widgets import read_script, read_widget_file

KERNEL_ONLY = ("layout", "tabbable", "tooltip", "own")  # parts of a state that a page cannot use


class Living:
    """The widgets of one page: `scripts` and `styles` without repetition."""

    def __init__(self):
        self.scripts: list[str] = []
        self.styles: list[str] = []

    def enliven(self, state: dict, still: str, record: dict | None) -> str:
        """Return HTML of a widget with this state, over its `still` form.

        `record`: what a kernel would answer, and a `note` on it; None for one that asks nothing.
        """
        script = state["_esm"]
        style = state.get("_css", "")
        if script not in self.scripts:
            self.scripts.append(script)
        if style not in self.styles:
            self.styles.append(style)

        description = {
            "script": self.scripts.index(script),
            "classes": state.get("_dom_classes", []),
            "state": _select_state(state),
            "recorded": record,
        }
        data = as_script(description)
        note = f'<p class="book-note">{escape(record["note"])}</p>' if record else ""
        return (
            f'<div class="book-live"><script type="application/json">{data}</script>'
            f'<div class="book-still">{still}</div>{note}</div>'
        )


def _select_state(state: dict) -> dict:
    """Return what a page needs of a widget's state."""
    selected = {}
    for name, value in state.items():
        if not name.startswith("_") and name not in KERNEL_ONLY:
            selected[name] = value
    return selected


def as_script(value: object) -> str:
    """Return JSON that cannot end the `<script>` around it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def living_page(title: str, still: str, state: dict, record: dict | None) -> str:
    """Return a whole page of one exhibit; without a `state` it stands still."""
    living = Living()
    shown = living.enliven(state, still, record) if state else still
    styles = [ink.render_stylesheet(), read_widget_file("page.css"), *living.styles]
    return render(
        "living.html",
        title=title,
        shown=Markup(shown),
        scripts=Markup(as_script(living.scripts)),
        styles=Markup("\n".join(styles)),
        host=Markup(read_script("host")),
    )
