"""The spine -> the map in chapter 0, the line at the head of a chapter, the mark of an exhibit.

Map and line stand in prose, which JupyterLab shows before any cell has run and strips of styles
that it does not know: the pictures are files beside the notebooks, and what is read in the map is
text.
"""

from markupsafe import Markup

from helpers.model.spine import BANDS, CHAPTERS, SPINE, START, Chapter, Station
from helpers.view import ink
from helpers.view.markup import render

PICTURES = "images/spine"
ICON_HEIGHT, LINE_HEIGHT = 100, 88  # pixels
MARK_STYLE = "text-align:right;font-size:12px;line-height:1.2"
ENDS = (("start", "x"), ("end", "y"))
# Where on the line a station stands, in per cent of its width.
FIRST, STEP, START_AT, END_AT = 15, 14, 4, 96


def chapter_map() -> str:
    """Return the map: three bands of two stations between `f(x)` and the answer, as HTML."""
    pairs = [SPINE[at : at + 2] for at in range(0, len(SPINE), 2)]
    html = render(
        "spine_map.html",
        bands=list(zip(BANDS, pairs, strict=True)),
        pictures=PICTURES,
        height=ICON_HEIGHT,
    )
    return "\n".join(line for line in html.splitlines() if line.strip())  # prose ends HTML there


def chapter_line(here: Chapter) -> str:
    """Return the line with the chapter's station lit, if it has one; it leads to the map."""
    names = (f"{s.number} {s.name}{' (you are here)' * (s is here)}" for s in SPINE)
    alt = f"The way of a call: f(x), {', '.join(names)}, answer"
    place = f"{PICTURES}/{here.number}.svg"
    picture = f'<img src="{place}" alt="{alt}" width="100%" height="{LINE_HEIGHT}">'
    return f'<a href="{START}.ipynb">{picture}</a>'


def opened(here: Station) -> str:
    """Return the row that a chapter closes with: the seam that it opened, and who gets in."""
    happens = f"{here.happens}; there, {here.who} gets in"
    return f"| the seam that you opened: {mark(here.number)} | {happens} |"


def mark(number: int) -> str:
    """Return the mark of a station, as an exhibit bears it: ③ frame."""
    return f"{chr(ord('①') + number - 1)} {SPINE[number - 1].name}"


def mark_html(number: int) -> str:
    """Return the mark as a line above an exhibit's page."""
    style = f"{MARK_STYLE};color:{ink.colour('quiet')}"
    return str(Markup('<div style="{}">{}</div>\n').format(style, mark(number)))


def mark_css(number: int) -> str:
    """Return the rule that puts the mark above a widget of class `course-at-<number>`."""
    return (
        f'.course-at-{number}::before{{content:"{mark(number)}";display:block;{MARK_STYLE};'
        "color:var(--who-quiet)}"
    )


def files() -> dict[str, str]:
    """Return every picture by the name of its file."""
    lines = {f"{here.number}.svg": _line(here) for here in CHAPTERS}
    icons = {f"{_slug(station)}.svg": _icon(station) for station in SPINE}
    ends = {f"{end}.svg": _render("spine_end.svg", end=end, letter=letter) for end, letter in ENDS}
    return {name: f"{svg}\n" for name, svg in {**lines, **icons, **ends}.items()}


def _line(here: Chapter) -> str:
    places = [(station, FIRST + STEP * at) for at, station in enumerate(SPINE)]
    return _render("spine_line.svg", places=places, here=here, ends=(START_AT, END_AT))


def _icon(station: Station) -> str:
    return _render("spine_icon.svg", station=station)


def _render(template: str, **values) -> str:
    return render(template, style=ink.picture_style(), height=ICON_HEIGHT, **values)


def _slug(station: Station) -> str:
    return station.name.lower().replace(" ", "_")
