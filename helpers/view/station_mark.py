"""The number of a station of the map -> the mark that an exhibit bears: ③ frame."""

from markupsafe import Markup

from ..model.spine import SPINE
from . import ink

MARK_STYLE = "text-align:right;font-size:12px;line-height:1.2"
_LINE = Markup('<div style="{}">{}</div>\n')


def format_mark(number: int) -> str:
    """Return the mark of a station, as an exhibit bears it: ③ frame."""
    digit = chr(ord("①") + number - 1)  # ① ② ③ follow each other in Unicode
    return f"{digit} {SPINE[number - 1].name}"


def render_mark_html(number: int) -> str:
    """Return the mark as a line above an exhibit's page."""
    style = f"{MARK_STYLE};color:{ink.format_colour('quiet')}"
    return str(_LINE.format(style, format_mark(number)))


def render_mark_css(number: int) -> str:
    """Return the rule that puts the mark above a widget of class `course-at-<number>`."""
    return (
        f'.course-at-{number}::before{{content:"{format_mark(number)}";display:block;{MARK_STYLE};'
        "color:var(--who-quiet)}"
    )
