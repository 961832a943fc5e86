"""A map of routes -> a matrix of dots with a sentence for each setting, or a picture.
A *route* is a call that reaches a function through something that refers to the function. A
*setting* is a number: in setting 0 nothing is replaced, and in each other one something is.
"""

from ...model.reference_records import RouteMap
from .. import View
from ..ceilings import limit_rows
from ..dot_matrix import count_changed, explain_dots, render_dots_text
from ..images import embed_picture
from ..ledger_table import WHERE_ALL_ENTRIES
from ..markup import render
from ..plain_text import escape_to_one_line, join_nonempty
from ..table_view import dots
from . import make_widget, read_widget_file
from .routes_drawing import MOST_ROUTES, draw_routes
from .routes_sentences import describe_setting

SMALLEST = 0.8  # of its natural size, where letters have 10 pixels


def _render_routes_text(model: RouteMap) -> str:
    """Return a matrix of what each call does in each setting, and a sentence for each setting."""
    columns = {
        "call": [route.call for route in model.routes],
        "what refers to the function": [route.name for route in model.routes],
    }
    sentences = []
    for setting, heading in enumerate(model.headings):
        sentences.append(f"{escape_to_one_line(heading)}: {describe_setting(model, setting)}")
    return join_nonempty(render_dots_text(model, columns), *sentences)


def _render_routes_html(model: RouteMap) -> str:
    """Return the picture of one setting, the sentences of all settings, and the matrix of dots."""
    sentences = []  # (heading of the setting, its sentence)
    for setting, heading in enumerate(model.headings):
        sentences.append((heading, describe_setting(model, setting)))

    opened = _choose_opened_setting(model)
    picture = draw_routes(model).still(opened, _read_style())
    heading, sentence = sentences[opened]
    return render(
        "routes.html",
        matrix=dots.html(model),
        said=sentences,
        alt=f"{escape_to_one_line(heading)}: {sentence}",
        **embed_picture(picture, SMALLEST),
    )


def _read_style() -> str:
    """Return the CSS of a picture that stands still: both sheets up to their rules for a widget."""
    picture_style = read_widget_file("picture.css").partition(".course-picture {")[0]
    routes_style = read_widget_file("routes.css").partition(".course-route-map")[0]
    return picture_style + routes_style


def _choose_opened_setting(model: RouteMap) -> int:
    """Return the setting that is shown at first, because it shows most.

    It is the one in which most arrows move, but not all: a call that is not reached is the point.
    """
    moved_counts = [len(model.moved(heading)) for heading in model.headings]

    def rank_setting(setting: int) -> tuple[bool, int]:
        """Return a key that is greatest for the setting to open on."""
        count = moved_counts[setting]
        return count < len(model.routes), count

    return max(range(len(moved_counts)), key=rank_setting)


def _make_routes_widget(model: RouteMap):
    """Return the widget in which a reader switches between the settings.

    Its state has one picture with the states of its parts in each setting, and for each setting its
    heading, its sentence, its source (`patches`) and how many calls changed (`counts`).
    """
    picture = draw_routes(model)
    title = escape_to_one_line(model.title)
    settings = range(len(model.headings))
    legend = explain_dots(model)
    _, left_out = limit_rows(model.routes, WHERE_ALL_ENTRIES, "Routes", MOST_ROUTES)
    if left_out:
        legend.append(left_out)

    state = {
        "title": title,
        "svg": picture.svg,
        "states": picture.states,
        "headings": [escape_to_one_line(heading) for heading in model.headings],
        "says": [describe_setting(model, setting) for setting in settings],
        "patches": list(model.patches),
        "counts": count_changed(model),
        "legend": legend,
        "total": len(model.routes),
        "index": _choose_opened_setting(model),
    }
    says = f"{title!r}, {len(settings)} settings"
    return make_widget("routes", "picture routes", says, state)


routes = View(_render_routes_text, _render_routes_html, _make_routes_widget)
