"""The state of widgets -> what a page's own host needs to let them live, each thing once.

A widget of the course is an anywidget: a script (an ES module), a style sheet, and a state. Jupyter
stores the script and the sheet with each; a page holds each of them once.
"""

import html
import json

import nbformat

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
OURS = ("layout", "tabbable", "tooltip")  # of every widget, and nothing for a page


class Widgets:
    """The widgets of one notebook: `scripts` and `styles` without repetition, and a state each."""

    def __init__(self, notebook: nbformat.NotebookNode, recorded: list[dict]):
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self._recorded = {one["title"]: one for one in recorded}
        self._states = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})

    def enliven(self, cells) -> None:
        """Give each output with a widget a page form in which it lives; the rest stays."""
        for output in (one for cell in cells for one in cell.get("outputs", [])):
            data = output.get("data", {})
            view = data.pop(VIEW, None)
            state = self._states.get(view["model_id"], {}).get("state") if view else None
            if state and "_esm" in state:
                data["text/html"] = self._living(state, data.get("text/html", ""))

    def _living(self, state: dict, still: str) -> str:
        record = self._recorded.get(state.get("title"))
        told = {
            "script": _place(self.scripts, state["_esm"]),
            "classes": state.get("_dom_classes", []),
            "state": {k: v for k, v in state.items() if not k.startswith("_") and k not in OURS},
            "recorded": record,
        }
        _place(self.styles, state.get("_css", ""))
        note = f'<p class="book-note">{html.escape(record["note"])}</p>' if record else ""
        return (
            f'<div class="book-live"><script type="application/json">{as_script(told)}</script>'
            f'<div class="book-still">{still}</div>{note}</div>'
        )


def as_script(told) -> str:
    """Return JSON that ends no `<script>` in which it stands."""
    words = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return words.replace("<", "\\u003c")


def _place(shelf: list[str], text: str) -> int:
    if text not in shelf:
        shelf.append(text)
    return shelf.index(text)
