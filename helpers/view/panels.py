"""A step's panels and its source -> their text and their HTML, each from the view of its kind."""

from markupsafe import Markup, escape

from helpers.model.graph import Graph
from helpers.model.ledger import Ledger
from helpers.model.listing import Listing
from helpers.model.timeline import Panel, Timeline
from helpers.view import ledger, row_limit, table
from helpers.view.diagram import graph
from helpers.view.markup import MONO, one_line, visible

NOTHING = "(nothing)"
NO_STEPS = "No steps were recorded, so there is nothing to step through."
LONGEST_PROSE = 40_000  # characters of a panel

_VIEWS = {Listing: table, Graph: graph, Ledger: ledger}
_PROSE = Markup(
    '<pre style="margin:0;padding:0;background:none;white-space:pre-wrap;'
    f"word-break:normal;overflow-wrap:anywhere;font-family:{escape(MONO)};"
    'color:var(--jp-content-font-color1,inherit)">{}</pre>'
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


def html(panel: Panel) -> str:
    """Return a panel's content as HTML from the view of its kind; plain text is escaped."""
    view = _VIEWS.get(type(panel.content))
    if view is None:
        return str(_PROSE.format(_prose(panel)))
    if view is graph:
        return view.html(panel.content)
    return view.html(panel.content, row_limit.PANEL_ROOM)


def text(panel: Panel) -> str:
    """Return a panel's content as text; of an empty one, that it is."""
    view = _VIEWS.get(type(panel.content))
    if view is None or view is graph:
        return view.text(panel.content) if view else _prose(panel)
    return view.text(panel.content, row_limit.PANEL_ROOM)


def _prose(panel: Panel) -> str:
    return visible(row_limit.cut(panel.content.rstrip("\n"), LONGEST_PROSE)) or NOTHING
