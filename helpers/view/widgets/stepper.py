"""A timeline -> its steps: text, folded HTML, or a widget that steps in the page by itself.

No step needs the kernel: the widget carries every panel's HTML, in pieces of which each different
one is stored once, and the page puts them together. What it shows is the same as the text form;
only the stepping is new. Steps that there is no room for are counted.
"""

from markupsafe import Markup, escape

from helpers.model.graph import Graph
from helpers.model.ledger import Ledger
from helpers.model.listing import Listing
from helpers.model.timeline import Panel, Step, Timeline
from helpers.view import ledger, row_limit, table
from helpers.view.diagram import graph
from helpers.view.markup import MONO, joined, one_line, render, visible
from helpers.view.widgets.base import widget_class
from helpers.view.widgets.pieces import Pieces, whole

MARK = "▶"
NOTHING = "(nothing)"
NO_STEPS = "No steps were recorded, so there is nothing to step through."
FOLDED_AFTER = 100
LONGEST_PROSE = 40_000  # characters of a panel
STATE_ROOM = 700_000  # bytes of steps and panels in the widget's state
ALL = "the model has all of them (`.model.steps`)"

_VIEWS = {Listing: table, Graph: graph, Ledger: ledger}
_PROSE = Markup(
    '<pre style="margin:0;padding:0;background:none;white-space:pre-wrap;overflow-wrap:anywhere;'
    f"font-family:{escape(MONO)};"
    'color:var(--jp-content-font-color1,inherit)">{}</pre>'
)


def text(model: Timeline) -> str:
    """Return every step, one after another, each readable without the others."""
    model = row_limit.trimmed(model)
    lines = source_lines(model)
    total, room, steps = len(model.steps), row_limit.TEXT_ROOM, []
    for number, step in enumerate(model.steps, 1):
        words = _step_text(step, number, total, lines)
        room -= len(words)
        if steps and room < 0:
            break
        steps.append(words)
    rest = row_limit.Part(len(steps), 0, total).says(ALL, "Steps")
    opening = joined(model.title, note(model))
    return "\n\n".join(part for part in (opening, *steps, rest) if part)


def html(model: Timeline) -> str:
    """Return one folded part per step, the first open; beyond a hundred it says what is left out.

    Nothing in it needs a style sheet or a script, so it survives an untrusted notebook.
    """
    model = row_limit.trimmed(model)
    lines, shown, room = source_lines(model), [], row_limit.ROOM
    above = sum(row_limit.cost(line) - row_limit.CELL + 10 for line in lines)
    for step in model.steps[:FOLDED_AFTER]:
        panels = [(heading(panel), Markup(panel_html(panel))) for panel in step.panels]
        room -= above + 400 + sum(len(markup.encode()) + 200 for _, markup in panels)
        if shown and room < 0:
            break
        shown.append((row_limit.cut(step.label), step.line, panels))
    return render(
        "stepper.html",
        title=model.title,
        note=note(model),
        lines=lines,
        steps=shown,
        total=len(model.steps),
        mark=MARK,
    )


def widget(model: Timeline):
    """Return an anywidget with the whole timeline in its state; `index` is the step on show."""
    model = row_limit.trimmed(model)
    pool, frames, room = _Pool(), [], STATE_ROOM
    for step in model.steps:
        label = row_limit.cut(one_line(step.label))
        shown = [[visible(heading(panel)), pool.index(panel)] for panel in step.panels]
        room -= len(label.encode()) + 20 + sum(len(title.encode()) + 12 for title, _ in shown)
        if frames and pool.size > room:
            break
        frames.append([label, step.line, shown])
    rest = row_limit.Part(len(frames), 0, len(model.steps)).says(ALL, "Steps")
    return _widget_class()(
        title=one_line(model.title),
        note=joined(note(model), rest),
        lines=source_lines(model),
        frames=frames,
        strings=pool.pieces.strings,
        groups=pool.pieces.groups,
        panels=pool.panels,
    )


def source_lines(model: Timeline) -> list[str]:
    """Return the source's lines, ready to show; line n of the source is item n - 1."""
    source = model.source.rstrip("\n")
    if not source:
        return []
    return row_limit.source([one_line(line.expandtabs(4)) for line in source.split("\n")])


def note(model: Timeline) -> str:
    """Return the timeline's note; without steps it says so."""
    return model.note if model.steps else f"{NO_STEPS} {model.note}".strip()


def heading(panel: Panel) -> str:
    """Return the panel's title, or nothing where its content bears the same title itself."""
    return "" if getattr(panel.content, "title", None) == panel.title else panel.title


def panel_html(panel: Panel) -> str:
    """Return a panel's content as HTML from the view of its kind; plain text is escaped."""
    view = _VIEWS.get(type(panel.content))
    if view is None:
        return str(_PROSE.format(_prose(panel)))
    if view is graph:
        return view.html(panel.content)
    return view.html(panel.content, row_limit.PANEL_ROOM)


def _step_text(step: Step, number: int, total: int, lines: list[str]) -> str:
    parts = [f"Step {number} of {total} · {row_limit.cut(one_line(step.label))}"]
    if 1 <= step.line <= len(lines):
        parts.append(f"{MARK} line {step.line}: {lines[step.line - 1]}")
    for panel in step.panels:
        parts += [visible(f"{heading(panel)}:")] if heading(panel) else []
        parts.append(_indented(_panel_text(panel)))
    return "\n".join(parts)


def _panel_text(panel: Panel) -> str:
    view = _VIEWS.get(type(panel.content))
    if view is None or view is graph:
        return view.text(panel.content) if view else _prose(panel)
    return view.text(panel.content, row_limit.PANEL_ROOM)


def _prose(panel: Panel) -> str:
    return visible(row_limit.cut(panel.content.rstrip("\n"), LONGEST_PROSE)) or NOTHING


def _indented(words: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in words.split("\n"))


class _Pool:
    """Panels' HTML as pieces, each different panel once. Equal ones are not even drawn twice."""

    def __init__(self):
        self.pieces, self.panels = Pieces(), []
        self._drawn: dict[str, int] = {}
        self._known: dict[str, int] = {}

    @property
    def size(self) -> int:
        """Bytes of all that is stored, about."""
        return self.pieces.size

    def index(self, panel: Panel) -> int:
        """Return where the panel stands in `panels`, drawing it if it is new."""
        key = repr(panel.content)  # not the record itself: 1 == True, but they read differently
        if key not in self._drawn:
            markup = panel_html(panel)
            if markup not in self._known:
                self._known[markup] = len(self.panels)
                self.panels.append(self.pieces.add(markup))
            self._drawn[key] = self._known[markup]
        return self._drawn[key]


def panels_html(widget) -> list[str]:
    """Return every panel's HTML, put together as the page does it."""
    return [whole(panel, widget.strings, widget.groups) for panel in widget.panels]


_widget_class = widget_class(
    __file__,
    styles=("stepper.css",),
    says=lambda w: f"{w.title!r}, {len(w.frames)} steps",
    traits=lambda t: {
        "title": t.Unicode(),
        "note": t.Unicode(),
        "lines": t.List(t.Unicode()),
        "frames": t.List(),
        "strings": t.List(t.Unicode()),
        "groups": t.List(),
        "panels": t.List(),
        "index": t.Int(0),
    },
)
