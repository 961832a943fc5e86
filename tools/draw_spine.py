"""The spine -> the map of chapter 0, the line at the head of a chapter, and their pictures.

`python -m tools.draw_spine` writes the pictures beside the notebooks after a change;
`tests/test_spine.py` says what in the notebooks and the README does not follow the spine any more.
Map and line stand in prose, which JupyterLab shows before any cell has run and strips of styles
that it does not know: the pictures are files, and what is read in the map is text.
"""

from pathlib import Path

from helpers.model.spine import BANDS, CHAPTERS, SPINE, START, Chapter, Station
from helpers.view import ink
from helpers.view.markup import render
from helpers.view.station_mark import format_mark

FOLDER = "images/spine"
PICTURES = Path(__file__).parents[1] / "notebooks" / FOLDER
ICON_HEIGHT, LINE_HEIGHT = 100, 88  # pixels
ENDS = (("start", "x"), ("end", "y"))
# Where on the line a station stands, in per cent of its width.
FIRST, STEP, START_AT, END_AT = 15, 14, 4, 96


def chapter_map() -> str:
    """Return the map: three bands of two stations between `f(x)` and the answer, as HTML."""
    pairs = [SPINE[at : at + 2] for at in range(0, len(SPINE), 2)]
    bands = list(zip(BANDS, pairs, strict=True))
    html = render("spine_map.html", bands=bands, pictures=FOLDER, height=ICON_HEIGHT)
    return "\n".join(line for line in html.splitlines() if line.strip())  # prose ends HTML there


def chapter_line(here: Chapter) -> str:
    """Return the line with the chapter's station lit, if it has one; it leads to the map."""
    names = (f"{s.number} {s.name}{' (you are here)' * (s is here)}" for s in SPINE)
    alt = f"The way of a call: f(x), {', '.join(names)}, answer"
    place = f"{FOLDER}/{here.number}.svg"
    picture = f'<img src="{place}" alt="{alt}" width="100%" height="{LINE_HEIGHT}">'
    return f'<a href="{START}.ipynb">{picture}</a>'


def opened(here: Station) -> str:
    """Return the row that a chapter closes with: the seam that it opened, and who steps in."""
    happens = f"{here.happens}; {here.who} steps in here"
    return f"| the seam that you opened: {format_mark(here.number)} | {happens} |"


def files() -> dict[str, str]:
    """Return every picture by the name of its file."""
    places = [(station, FIRST + STEP * at) for at, station in enumerate(SPINE)]
    given = {"places": places, "ends": (START_AT, END_AT)}
    lines = {f"{c.number}.svg": _render("spine_line.svg", here=c, **given) for c in CHAPTERS}
    named = {s.name.lower().replace(" ", "_"): s for s in SPINE}
    icons = {f"{name}.svg": _render("spine_icon.svg", station=s) for name, s in named.items()}
    ends = {f"{end}.svg": _render("spine_end.svg", end=end, letter=letter) for end, letter in ENDS}
    return {name: f"{svg}\n" for name, svg in {**lines, **icons, **ends}.items()}


def _render(template: str, **values) -> str:
    return render(template, style=picture_style(), height=ICON_HEIGHT, **values)


def picture_style() -> str:
    """Return the style of an SVG that stands in an image: there it is asked for no page's theme.

    It follows the reader's system, and is read on a page of the other theme all the same: what it
    shows stands on grounds of its own.
    """
    light, dark = (f":root{{{ink.render_variables(theme)}}}" for theme in (False, True))
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"


if __name__ == "__main__":
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, svg in files().items():
        (PICTURES / name).write_text(svg, encoding="utf-8", newline="\n")
