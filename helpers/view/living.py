"""A widget's state -> HTML in which the widget works without a kernel; an exhibit -> a whole page.
A widget is an anywidget: its state has the source of its script and of its style sheet. A page has
each script and style sheet once, and `scripts/host.js` runs the scripts.
"""

import json

from markupsafe import Markup, escape

from . import ink
from .markup import render
from .widgets import read_script, read_widget_file

KERNEL_ONLY = ("layout", "tabbable", "tooltip", "own")  # parts of a state that a page cannot use


class LiveWidgets:
    """The widgets of one page.

    Each widget has the source of its script and its style sheet in its state. `scripts` and
    `styles` collect them, each once, for the page that the caller writes.
    """

    def __init__(self):
        """Begin a page without a widget; `render_widget` adds one."""
        self.scripts: list[str] = []
        self.styles: list[str] = []

    def render_widget(self, state: dict, still: str, record: dict | None) -> str:
        """Return the HTML of a widget, whose script the page runs.

        Parameters
        ----------
        state : dict
            The widget's state, as anywidget shares it with a page.
        still : str
            HTML of the same facts, shown where no script runs.
        record : dict or None
            What a kernel would answer to the widget, and a `note` that tells the reader so. None
            for a widget that asks no kernel.
        """
        # `_esm` and `_css` are anywidget's names for the source of script and styles. The
        # page has each source once, so a widget refers to its script by a number.
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
        data = format_script_json(description)
        note = f'<p class="book-note">{escape(record["note"])}</p>' if record else ""
        return (
            f'<div class="book-live"><script type="application/json">{data}</script>'
            f'<div class="book-still">{still}</div>{note}</div>'
        )


def _select_state(state: dict) -> dict:
    """Return the parts of a widget's state that its script uses; the others are for ipywidgets."""
    selected = {}
    for name, value in state.items():
        if not name.startswith("_") and name not in KERNEL_ONLY:
            selected[name] = value
    return selected


def format_script_json(value: object) -> str:
    """Return a value as JSON for a `<script>` element, which no text in the JSON can end."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def render_live_page(title: str, still: str, state: dict, record: dict | None) -> str:
    """Return a whole HTML page of one exhibit.

    `still` is the HTML form of the exhibit. `state` is the state of its widget; it is empty for an
    exhibit without a widget, whose page has only `still`. `record` is that of `render_widget`.
    """
    living = LiveWidgets()
    shown = living.render_widget(state, still, record) if state else still
    styles = [ink.render_stylesheet(), read_widget_file("page.css"), *living.styles]
    return render(
        "living.html",
        title=title,
        shown=Markup(shown),
        scripts=Markup(format_script_json(living.scripts)),
        styles=Markup("\n".join(styles)),
        host=Markup(read_script("host")),
    )
