"""The spine -> the map in chapter 0, the line at the head of a chapter, the mark of an exhibit;
a journey -> its line for each of two calls, lit where the call passed.

Map and line stand in prose, which JupyterLab shows before any cell has run and strips of styles
that it does not know: the pictures are files beside the notebooks, and what is read in the map is
text.
"""

from markupsafe import Markup

from helpers.model.journey import Journey, Passage
from helpers.model.spine import BANDS, CHAPTERS, SPINE, START, Chapter, Station
from helpers.view import View, ink, row_limit
from helpers.view.markup import grid, joined, render

PICTURES = "images/spine"
ICON_HEIGHT, LINE_HEIGHT = 100, 88  # pixels
MARK_STYLE = "text-align:right;font-size:12px;line-height:1.2"
ENDS = (("start", "x"), ("end", "y"))
# Where on the line a station stands, in per cent of its width.
FIRST, STEP, START_AT, END_AT = 15, 14, 4, 96
LIT, UNLIT = "●", "○"
HEADINGS = ("first call", "called again")
SAME = "the same"


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
    places = [(station, FIRST + STEP * at) for at, station in enumerate(SPINE)]
    given = {"places": places, "ends": (START_AT, END_AT)}
    lines = {f"{c.number}.svg": _render("spine_line.svg", here=c, **given) for c in CHAPTERS}
    icons = {
        f"{s.name.lower().replace(' ', '_')}.svg": _render("spine_icon.svg", station=s)
        for s in SPINE
    }
    ends = {f"{end}.svg": _render("spine_end.svg", end=end, letter=letter) for end, letter in ENDS}
    return {name: f"{svg}\n" for name, svg in {**lines, **icons, **ends}.items()}


def _render(template: str, **values) -> str:
    return render(template, style=ink.picture_style(), height=ICON_HEIGHT, **values)


# -- a journey -------------------------------------------------------------------------------------


def _journey_text(model: Journey) -> str:
    """Return both lines and a row per station as plain text; the shares of time last."""
    lines = [f"{head:<12}  {_call_line(call)}" for head, call in _calls(model)]
    key = f"{LIT} passed   {UNLIT} not passed"
    rows = [[f"{s.number} {s.name}", *_words(one, other)] for s, one, other in _stations(model)]
    rows += _endings(model)
    return joined(
        model.title, *lines, key, "", grid(["", *HEADINGS], rows), _time(model), model.note
    )


def _journey_html(model: Journey) -> str:
    """Return both lines as pictures made of text, and the rows as a table."""
    stations = [(s, one, *_words(one, other)) for s, one, other in _stations(model)]
    return render(
        "journey.html",
        model=model,
        calls=[(head, list(zip(SPINE, call.stops, strict=True))) for head, call in _calls(model)],
        headings=HEADINGS,
        stations=stations,
        endings=_endings(model),
        shares=[(name, round(100 * part)) for name, part in model.shares],
        same=SAME,
    )


def _calls(model: Journey) -> list[tuple[str, Passage]]:
    return list(zip(HEADINGS, (model.first, model.again), strict=True))


def _call_line(call: Passage) -> str:
    parts = [
        f"{LIT if stop.passed else UNLIT} {station.number} {station.name}"
        for station, stop in zip(SPINE, call.stops, strict=True)
    ]
    return " ─ ".join(["f(x)", *parts, "✕" if call.outcome else "answer"])


def _stations(model: Journey):
    return zip(SPINE, model.first.stops, model.again.stops, strict=True)


def _words(one, other) -> tuple[str, str]:
    return one.words, SAME if one == other else other.words


def _endings(model: Journey) -> list[tuple[str, str, str]]:
    """Return the rows of what the calls printed and raised, where one of them did."""
    rows = []
    for head, name in (("printed", "printed"), ("raised", "outcome")):
        words = [row_limit.cut(getattr(call, name)) for _, call in _calls(model)]
        if any(words):
            rows.append((head, *(word or "nothing" for word in words)))
    return rows


def _time(model: Journey) -> str:
    if not model.shares:
        return ""
    parts = ", ".join(f"{name} {round(100 * part)} %" for name, part in model.shares)
    return f"Of the time, called again: {parts}. What an operator does in C is your frame's."


journey = View(_journey_text, _journey_html)
