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
    """The widgets of one page.

    Each widget has the source of its script and its style sheet in its state. `scripts` and
    `styles` collect them, each once, for the page that the caller writes.
    """

    def __init__(self):
        self.scripts: list[str] = []
        self.styles: list[str] = []

    def enliven(self, state: dict, still: str, record: dict | None) -> str:
        """Return the HTML of a widget, which the page's script brings to life.

        Parameters
        ----------
        state : dict
            The widget's state, as anywidget shares it with a page.
        still : str
            HTML of the same facts, shown where no script runs.
        record : dict or None
            What a kernel would answer to the widget, and a `note` on that. None for a widget that
            asks no kernel.
        """
        script = state["_esm"]  # anywidget's names for the source of the script and the styles
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
    """Return the parts of a widget's state that are its own; the others are for ipywidgets."""
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
    """Return a whole page of one exhibit.

    `still` is its HTML form and `state` the state of its widget. If it has none, `state` is empty
    and the page stands still. `record` is that of `Living.enliven`.
    """
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
