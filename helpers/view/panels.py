"""A step's panels and its source -> their text and their HTML, each from the view of its kind."""

from markupsafe import Markup, escape

from helpers.model.graph import Graph
from helpers.model.ledger import Ledger
from helpers.model.listing import Listing
from helpers.model.timeline import Panel, Timeline
from helpers.view import row_limit
from helpers.view.diagram.graph_view import graph
from helpers.view.markup import MONO, one_line, visible
from helpers.view.table_view import ledger, table

NOTHING = "(nothing)"
NO_STEPS = "No steps were recorded, so there is nothing to step through."
LONGEST_PROSE = 40_000  # characters of a panel
_VIEWS = {Listing: table, Graph: graph, Ledger: ledger}
_PROSE = Markup(
    '<pre style="margin:0;padding:0;background:none;white-space:pre-wrap;'
    f"word-break:normal;overflow-wrap:anywhere;font-family:{escape(MONO)};"
    'color:var(--jp-content-font-color1,inherit)">{}</pre>'
)


def source_lines(model) -> list[str]:
    """Return the lines of the source of a model; line n of the source is item n - 1."""
    lines = model.source.rstrip("\n").split("\n") if model.source.strip("\n") else []
    return row_limit.source([one_line(line.expandtabs(4)) for line in lines])


def note_of(model: Timeline) -> str:
    """Return the timeline's note; without steps it says so."""
    return model.note if model.steps else f"{NO_STEPS} {model.note}".strip()


def heading_of(panel: Panel) -> str:
    """Return the panel's title, or nothing where its content bears the same title itself."""
    return "" if getattr(panel.content, "title", None) == panel.title else panel.title


def panel_html(panel: Panel) -> str:
    """Return a panel's content as HTML from the view of its kind; plain text is escaped."""
    view = _VIEWS.get(type(panel.content))
    return view.html(panel.content, *_room(view)) if view else str(_PROSE.format(_prose(panel)))


def panel_text(panel: Panel) -> str:
    """Return a panel's content as text; of an empty one, that it is."""
    view = _VIEWS.get(type(panel.content))
    return view.text(panel.content, *_room(view)) if view else _prose(panel)


def _room(view) -> tuple[int, ...]:
    return () if view is graph else (row_limit.PANEL_ROOM,)


def _prose(panel: Panel) -> str:
    return visible(row_limit.cut(panel.content.rstrip("\n"), LONGEST_PROSE)) or NOTHING
