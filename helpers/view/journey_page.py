"""A journey of a call past the stations of the map -> a line with the passed stations lit.
A *station* is a place that a call may pass, such as `3 frame`; `SPINE` has all of them. A journey
has the first call and the same call again. Each of the two is a *passage*, with a *stop* for each
station. A function may be called in several *ways*, such as plain and under tf.function; each way
has a journey of its own.
"""

from dataclasses import dataclass

from ..model.journey_records import Journey, Passage, Stop
from ..model.spine import SPINE, Station
from .ceilings import cut_text, list_source_lines
from .markup import render
from .plain_text import join_nonempty, render_grid

LIT = "●"
UNLIT = "○"
LIGHTS_LEGEND = f"{LIT} passed   {UNLIT} skipped"
HEADINGS = ("first call", "called again")
SAME = "the same"
PLAIN = "plain"  # the way of a call without a decorator
# The heading of a row below the stations -> the field of a passage with its text.
ENDINGS = {"printed": "printed", "raised": "outcome"}
ANSWERED = "answer"
NO_ANSWER = "✕"


@dataclass(frozen=True)
class StationRow:
    """What happened at one station in both calls."""

    station: Station
    """The station of the map."""
    stop: Stop
    """What the first call did at the station."""
    first_words: str
    """What happened in the first call, as a sentence."""
    again_words: str
    """What happened when it was called again, or `the same`."""


def render_journey_text(model: Journey) -> str:
    """Return the text form: for each way, a line of stations per call, and a table.

    `model` is the journey of the first way, and `model.others` are those of the other ways.
    """
    has_several_ways = bool(model.others)
    parts = [model.title, *list_source_lines(model)]
    for way in model.ways:
        if way.way:
            parts.append(f"\n{_format_way(way)}")
        parts += _render_way(way, "" if has_several_ways else LIGHTS_LEGEND)

    if has_several_ways:  # then the explanation of the lights stands once, below all ways
        parts.append(f"\n{LIGHTS_LEGEND}")
    parts += [_describe_shares(model), model.note]
    return join_nonempty(*parts)


def _render_way(way: Journey, key: str) -> list[str]:
    """Return the text of one way, in parts; `key` explains the lights `●` and `○`.

    If the function could not be called in this way, the only part is the reason.
    """
    if not way.first.stops:  # the function could not be called
        return [way.note]

    parts = []
    for heading, passage in _list_passages(way):
        parts.append(f"{heading:<12}  {_render_stations_line(passage)}")
        sentences = [sentence for sentence in (passage.ran, passage.instead) if sentence]
        if sentences:
            parts.append(f"{'':<12}  {' '.join(sentences)}")
    return [*parts, key, _render_table(way)]


def _render_stations_line(passage: Passage) -> str:
    """Return the line of a call, such as `f(x) ─ ● 1 name ─ ○ 2 object ─ answer`."""
    stations = []
    for station, stop in zip(SPINE, passage.stops, strict=True):
        light = LIT if stop.passed else UNLIT
        stations.append(f"{light} {station.number} {station.name}")
    end = ANSWERED if passage.has_answer else NO_ANSWER
    return " ─ ".join(["f(x)", *stations, end])


def _render_table(way: Journey) -> str:
    """Return a text table: a row for each station, then what the calls printed and raised."""
    rows = []
    for row in list_stations(way):
        name = f"{row.station.number} {row.station.name}"
        rows.append([name, row.first_words, row.again_words])
    rows += list_endings(way)
    return render_grid(["", *HEADINGS], rows)


def _describe_shares(model: Journey) -> str:
    """Return the sentence on whose code took which part of the time; empty if not measured."""
    if not model.shares:
        return ""
    shares = ", ".join(f"{name} {round(100 * part)} %" for name, part in model.shares)
    return f"Share of the time, called again: {shares}. An operator's C code counts as your frame."


def render_journey_html(model: Journey) -> str:
    """Return the HTML form: the line of stations, with a switch between several ways."""
    # (journey, name of the way, its two calls, its rows of stations) of each way
    ways = []
    for way in model.ways:
        ways.append((way, _format_way(way), _list_drawn_calls(way), list_stations(way)))
    return render(
        "journey.html",
        model=model,
        ways=ways,
        opens=_choose_opened_call(model),  # (number of the way, number of the call)
        shares=[(name, round(100 * part)) for name, part in model.shares],
        source="\n".join(list_source_lines(model)),
        headings=HEADINGS,
        endings=list_endings,
        same=SAME,
    )


def _list_drawn_calls(way: Journey) -> list[tuple[str, Passage, list[tuple]]]:
    """Return (heading, passage, pairs of station and stop) for both calls of a way.

    The list is empty for a way in which the function could not be called.
    """
    if not way.first.stops:  # the function could not be called
        return []

    calls = []
    for heading, passage in _list_passages(way):
        stops = list(zip(SPINE, passage.stops, strict=True))
        calls.append((heading, passage, stops))
    return calls


def _format_way(way: Journey) -> str:
    """Return a way as it is written above the function: `@tf.function`, or `plain`.

    The text is empty if the journey names no way.
    """
    if way.way in ("", PLAIN):
        return way.way
    return f"@{way.way}"


def _choose_opened_call(model: Journey) -> tuple[int, int]:
    """Return the numbers of the way and of the call on which the page opens, from 0.

    The first call in which none of the reader's lines ran is chosen, because it surprises most.
    """
    for way_number, way in enumerate(model.ways):
        for call_number, (_, passage) in enumerate(_list_passages(way)):
            # `ran` is a sentence; the one meant is "None of your lines ran."
            has_run_no_line = passage.ran.startswith("None")
            if passage.stops and has_run_no_line:
                return way_number, call_number
    return 0, 0


def _list_passages(model: Journey) -> list[tuple[str, Passage]]:
    """Return the first call and the call again, each with its heading."""
    return list(zip(HEADINGS, (model.first, model.again), strict=True))


def list_stations(model: Journey) -> list[StationRow]:
    """Return a row for each station of the map, with what happened there in both calls.

    A way in which the function could not be called has no rows.
    """
    rows = []
    # Without strict, because a call that could not be made has no stops.
    stops_by_station = zip(SPINE, model.first.stops, model.again.stops, strict=False)
    for station, first_stop, again_stop in stops_by_station:
        again_words = SAME if first_stop == again_stop else again_stop.words
        row = StationRow(
            station=station,
            stop=first_stop,
            first_words=first_stop.words,
            again_words=again_words,
        )
        rows.append(row)
    return rows


def list_endings(model: Journey) -> list[tuple[str, str, str]]:
    """Return rows of (heading, text of the first call, text of the call again).

    One row has what the calls printed, and one what they raised. A row is left out if neither call
    printed or raised anything.
    """
    endings = []
    for heading, field in ENDINGS.items():
        first_text = cut_text(getattr(model.first, field))
        again_text = cut_text(getattr(model.again, field))
        if first_text or again_text:
            endings.append((heading, first_text or "nothing", again_text or "nothing"))
    return endings
