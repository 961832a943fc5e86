"""A timeline -> its steps: text, folded HTML, or a widget that steps in the page by itself.

No step needs the kernel: the widget carries every panel's HTML, each different one once, and the
page swaps them. What it shows is the same as the text form; only the stepping is new.
"""

from functools import cache
from pathlib import Path

from markupsafe import Markup, escape

from helpers.model.graph import Graph
from helpers.model.ledger import Ledger
from helpers.model.listing import Listing
from helpers.model.timeline import Panel, Step, Timeline
from helpers.view import diagram, ledger, table
from helpers.view.ink import MONO, one_line, render, visible

MARK = "▶"
NOTHING = "(nothing)"
NO_STEPS = "No steps were recorded, so there is nothing to step through."
FOLDED_AFTER = 100

_VIEWS = {Listing: table, Graph: diagram, Ledger: ledger}
_PROSE = Markup(
    '<pre style="margin:0;padding:0;background:none;white-space:pre-wrap;overflow-wrap:anywhere;'
    f"font-family:{escape(MONO)};"
    'color:var(--jp-content-font-color1,inherit)">{}</pre>'
)
_HERE = Path(__file__)


def text(model: Timeline) -> str:
    """Return every step, one after another, each readable without the others."""
    lines = source_lines(model)
    total = len(model.steps)
    steps = [_step_text(step, n, total, lines) for n, step in enumerate(model.steps, 1)]
    opening = "\n".join(part for part in (visible(model.title), visible(note(model))) if part)
    return "\n\n".join(part for part in (opening, *steps) if part)


def html(model: Timeline) -> str:
    """Return one folded part per step, the first open; beyond a hundred it says what is left out.

    Nothing in it needs a style sheet or a script, so it survives an untrusted notebook.
    """
    return render(
        "stepper.html",
        title=model.title,
        note=note(model),
        lines=source_lines(model),
        steps=model.steps[:FOLDED_AFTER],
        total=len(model.steps),
        heading=heading,
        panel_html=lambda panel: Markup(panel_html(panel)),
        mark=MARK,
    )


def widget(model: Timeline):
    """Return an anywidget with the whole timeline in its state; `index` is the step on show."""
    pool = _Pool()
    frames = [
        [one_line(s.label), s.line, [[visible(heading(p)), pool.index(p)] for p in s.panels]]
        for s in model.steps
    ]
    return _widget_class()(
        title=one_line(model.title),
        note=visible(note(model)),
        lines=source_lines(model),
        frames=frames,
        pool=pool.strings,
    )


def source_lines(model: Timeline) -> list[str]:
    """Return the source's lines, ready to show; line n of the source is item n - 1."""
    source = model.source.rstrip("\n")
    return [one_line(line.expandtabs(4)) for line in source.split("\n")] if source else []


def note(model: Timeline) -> str:
    """Return the timeline's note; without steps it says so."""
    return model.note if model.steps else f"{NO_STEPS} {model.note}".strip()


def heading(panel: Panel) -> str:
    """Return the panel's title, or nothing where its content bears the same title itself."""
    return "" if getattr(panel.content, "title", None) == panel.title else panel.title


def panel_html(panel: Panel) -> str:
    """Return a panel's content as HTML from the view of its kind; plain text is escaped."""
    view = _VIEWS.get(type(panel.content))
    return view.html(panel.content) if view else str(_PROSE.format(_prose(panel)))


def _step_text(step: Step, number: int, total: int, lines: list[str]) -> str:
    parts = [f"Step {number} of {total} · {one_line(step.label)}"]
    if 1 <= step.line <= len(lines):
        parts.append(f"{MARK} line {step.line}: {lines[step.line - 1]}")
    for panel in step.panels:
        parts += [visible(f"{heading(panel)}:")] if heading(panel) else []
        parts.append(_indented(_panel_text(panel)))
    return "\n".join(parts)


def _panel_text(panel: Panel) -> str:
    view = _VIEWS.get(type(panel.content))
    return view.text(panel.content) if view else _prose(panel)


def _prose(panel: Panel) -> str:
    return visible(panel.content.rstrip("\n")) or NOTHING


def _indented(words: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in words.split("\n"))


class _Pool:
    """Panels' HTML, each different string once. Equal panels are not even drawn twice."""

    def __init__(self):
        self.strings: list[str] = []
        self._drawn: dict[str, int] = {}
        self._known: dict[str, int] = {}

    def index(self, panel: Panel) -> int:
        """Return where the panel's HTML stands in `strings`, drawing it if it is new."""
        key = repr(panel.content)  # not the record itself: 1 == True, but they read differently
        if key not in self._drawn:
            markup = panel_html(panel)
            if markup not in self._known:
                self._known[markup] = len(self.strings)
                self.strings.append(markup)
            self._drawn[key] = self._known[markup]
        return self._drawn[key]


@cache
def _widget_class():
    import anywidget
    import traitlets

    class StepperWidget(anywidget.AnyWidget):
        _esm = _HERE.with_suffix(".js").read_text(encoding="utf-8")
        _css = _HERE.with_suffix(".css").read_text(encoding="utf-8")
        title = traitlets.Unicode().tag(sync=True)
        note = traitlets.Unicode().tag(sync=True)
        lines = traitlets.List(traitlets.Unicode()).tag(sync=True)
        frames = traitlets.List().tag(sync=True)
        pool = traitlets.List(traitlets.Unicode()).tag(sync=True)
        index = traitlets.Int(0).tag(sync=True)

        def __repr__(self):
            return f"StepperWidget({self.title!r}, {len(self.frames)} steps)"

    return StepperWidget
