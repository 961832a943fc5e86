"""A journey -> the line of the six stations for each of two calls, lit where the call passed.

Below the lines stands what happened at each station, a row each, with a link to its chapter.
"""

from helpers.model.journey import Journey, Passage
from helpers.model.spine import SPINE
from helpers.view import row_limit
from helpers.view.markup import grid, joined, render

LIT, UNLIT = "●", "○"
HEADINGS = ("first call", "called again")
SAME = "the same"


def text(model: Journey) -> str:
    """Return both lines and a row per station as plain text; the shares of time last."""
    model = row_limit.trimmed(model)
    lines = [f"{head:<12}  {_line(call)}" for head, call in _calls(model)]
    key = f"{LIT} passed   {UNLIT} not passed"
    rows = [[f"{s.number} {s.name}", *_words(one, other)] for s, one, other in _stations(model)]
    rows += _endings(model)
    return joined(
        model.title, *lines, key, "", grid(["", *HEADINGS], rows), _time(model), model.note
    )


def html(model: Journey) -> str:
    """Return both lines as pictures made of text, and the rows as a table."""
    model = row_limit.trimmed(model)
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


def _line(call: Passage) -> str:
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
