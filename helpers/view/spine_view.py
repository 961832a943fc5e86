"""The spine -> the mark of an exhibit; a journey, or who gets hold of a call -> its line, lit."""

from dataclasses import replace

from markupsafe import Markup

from ..model.framework_records import Journey, Passage
from ..model.spine import SPINE
from . import View, ink
from .markup import cut, grid, joined, render, source_lines
from .table_view import table

MARK_STYLE = "text-align:right;font-size:12px;line-height:1.2"
LIT, UNLIT = "●", "○"
HEADINGS = ("first call", "called again")
SAME = "the same"
PLAIN = "plain"


def mark(number: int) -> str:
    """Return the mark of a station, as an exhibit bears it: ③ frame."""
    return f"{chr(ord('①') + number - 1)} {SPINE[number - 1].name}"


def mark_html(number: int) -> str:
    """Return the mark as a line above an exhibit's page."""
    style = f"{MARK_STYLE};color:{ink.format_colour('quiet')}"
    return str(Markup('<div style="{}">{}</div>\n').format(style, mark(number)))


def mark_css(number: int) -> str:
    """Return the rule that puts the mark above a widget of class `course-at-<number>`."""
    return (
        f'.course-at-{number}::before{{content:"{mark(number)}";display:block;{MARK_STYLE};'
        "color:var(--who-quiet)}"
    )


def _journey_text(model: Journey) -> str:
    key = f"{LIT} passed   {UNLIT} skipped"
    parts = [model.title, *source_lines(model)]
    for one in model.ways:
        parts.append(f"\n{_taken(one)}" if one.way else "")
        if not one.first.stops:
            parts.append(one.note)
            continue
        for head, call in _calls(one):
            pairs = zip(SPINE, call.stops, strict=True)
            marks = [f"{LIT if stop.passed else UNLIT} {s.number} {s.name}" for s, stop in pairs]
            line = " ─ ".join(["f(x)", *marks, "answer" if call.has_answer else "✕"])
            said = " ".join(filter(None, (call.ran, call.instead)))
            parts += [f"{head:<12}  {line}", said and f"{'':<12}  {said}"]
        rows = [[f"{s.number} {s.name}", *words] for s, _, *words in _stations(one)]
        parts += ["" if model.others else key, grid(["", *HEADINGS], [*rows, *_endings(one)])]
    shares = ", ".join(f"{name} {round(100 * part)} %" for name, part in model.shares)
    time = f"Share of the time, called again: {shares}. An operator's C code counts as your frame."
    last = f"\n{key}" if model.others else ""
    return joined(*parts, last, time if shares else "", model.note)


def _journey_html(model: Journey) -> str:
    ways = []
    for one in model.ways:
        calls = [
            (head, call, list(zip(SPINE, call.stops, strict=False))) for head, call in _calls(one)
        ]
        ways.append((one, _taken(one), calls if one.first.stops else [], _stations(one)))
    shares = [(name, round(100 * part)) for name, part in model.shares]
    values = {"ways": ways, "shares": shares, "headings": HEADINGS, "same": SAME}
    values["source"] = "\n".join(source_lines(model))
    return render("journey.html", model=model, opens=_opens(model), endings=_endings, **values)


def _taken(one: Journey) -> str:
    """Return how a function is called in this way, as it is written above it."""
    return one.way if one.way in ("", PLAIN) else f"@{one.way}"


def _opens(model: Journey) -> tuple[int, int]:
    """Return the way and the call that are seen first: one in which none of your lines ran."""
    for at, one in enumerate(model.ways):
        for again, (_, call) in enumerate(_calls(one)):
            if call.stops and call.ran.startswith("None"):
                return at, again
    return 0, 0


def _calls(model: Journey) -> list[tuple[str, Passage]]:
    return list(zip(HEADINGS, (model.first, model.again), strict=True))


def _stations(model: Journey) -> list[tuple]:
    """Return each station, its first stop, and the words of both stops."""
    both = zip(SPINE, model.first.stops, model.again.stops, strict=False)
    return [(s, one, one.words, SAME if one == other else other.words) for s, one, other in both]


def _endings(model: Journey) -> list[tuple[str, str, str]]:
    heads = ("printed", "printed"), ("raised", "outcome")
    said = [(head, [cut(getattr(c, name)) for _, c in _calls(model)]) for head, name in heads]
    return [(head, *(word or "nothing" for word in words)) for head, words in said if any(words)]


def _interceptions_text(model) -> str:
    """Return a table of the ways in that are used, and a line per station of the others."""
    used, free = tuple(row for row in model.rows if row.way in model.taken), {}
    for row in (row for row in model.rows if row not in used):
        free.setdefault(row.station, []).append(f"{row.way} ({row.now})".replace(" (nobody)", ""))
    lines = (f"unused, {station}: {', '.join(ways)}" for station, ways in free.items())
    return joined(table.text(replace(model, rows=used)), *lines)


def _interceptions_html(model) -> str:
    """Return the stations, with who is there hanging at each; the list of all ways in folds."""
    stations = [(one, model.at(one.name)) for one in SPINE]
    around = [row for row in model.rows if not any(row in ways for _, ways in stations)]
    values = {"stations": stations, "around": around, "body": _interceptions_text(model)}
    return render("interceptions.html", model=model, taken=model.taken, **values)


interceptions = View(_interceptions_text, _interceptions_html)
journey = View(_journey_text, _journey_html)
