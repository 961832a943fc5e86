"""A journey, of one call or of the same call in several ways -> the line of stations, lit."""

from dataclasses import dataclass

from ..model.journey_records import Journey, Passage, Stop
from ..model.spine import SPINE
from .ceilings import cut_text, list_source_lines
from .markup import render
from .plain_text import join_parts, render_grid

LIT = "●"
UNLIT = "○"
KEY = f"{LIT} passed   {UNLIT} skipped"
HEADINGS = ("first call", "called again")
SAME = "the same"
PLAIN = "plain"
ENDINGS = {"printed": "printed", "raised": "outcome"}  # heading -> the field of a passage
ANSWERED = "answer"
NO_ANSWER = "✕"


@dataclass(frozen=True)
class StationRow:
    """What happened at one station in both calls."""

    station: object
    """The station of the map."""
    stop: Stop
    """The stop of the first call there."""
    first_words: str
    """What happened in the first call."""
    again_words: str
    """What happened when it was called again."""


def render_journey_text(model: Journey) -> str:
    """Return a line of stations for each call, and a table of what happened at each."""
    has_several_ways = bool(model.others)
    parts = [model.title, *list_source_lines(model)]
    for way in model.ways:
        if way.way:
            parts.append(f"\n{_format_way(way)}")
        parts += _render_way(way, "" if has_several_ways else KEY)

    if has_several_ways:
        parts.append(f"\n{KEY}")
    parts += [_describe_shares(model), model.note]
    return join_parts(*parts)


def _render_way(way: Journey, key: str) -> list[str]:
    """Return the text of one way; of one that could not be taken, only why not."""
    if not way.first.stops:
        return [way.note]

    parts = []
    for heading, passage in _list_passages(way):
        parts.append(f"{heading:<12}  {_render_stations_line(passage)}")
        sentences = [sentence for sentence in (passage.ran, passage.instead) if sentence]
        if sentences:
            parts.append(f"{'':<12}  {' '.join(sentences)}")
    return [*parts, key, _render_table(way)]


def _render_stations_line(passage: Passage) -> str:
    """Return the stations of a call in their order, from its start to its answer."""
    stations = []
    for station, stop in zip(SPINE, passage.stops, strict=True):
        light = LIT if stop.passed else UNLIT
        stations.append(f"{light} {station.number} {station.name}")
    end = ANSWERED if passage.has_answer else NO_ANSWER
    return " ─ ".join(["f(x)", *stations, end])


def _render_table(way: Journey) -> str:
    rows = []
    for row in list_stations(way):
        name = f"{row.station.number} {row.station.name}"
        rows.append([name, row.first_words, row.again_words])
    rows += list_endings(way)
    return render_grid(["", *HEADINGS], rows)


def _describe_shares(model: Journey) -> str:
    """Return whose code took which part of the time."""
    if not model.shares:
        return ""
    shares = ", ".join(f"{name} {round(100 * part)} %" for name, part in model.shares)
    return f"Share of the time, called again: {shares}. An operator's C code counts as your frame."


def render_journey_html(model: Journey) -> str:
    """Return the line of stations, with a switch between several ways."""
    ways = []
    for way in model.ways:
        ways.append((way, _format_way(way), _list_drawn_calls(way), list_stations(way)))
    return render(
        "journey.html",
        model=model,
        ways=ways,
        opens=_choose_opened_call(model),
        shares=[(name, round(100 * part)) for name, part in model.shares],
        source="\n".join(list_source_lines(model)),
        headings=HEADINGS,
        endings=list_endings,
        same=SAME,
    )


def _list_drawn_calls(way: Journey) -> list[tuple[str, Passage, list[tuple]]]:
    """Return each call with its stations and stops; none of a way that could not be taken."""
    if not way.first.stops:
        return []

    calls = []
    for heading, passage in _list_passages(way):
        stops = list(zip(SPINE, passage.stops, strict=False))
        calls.append((heading, passage, stops))
    return calls


def _format_way(way: Journey) -> str:
    """Return how a function is called in this way, as it is written above it."""
    if way.way in ("", PLAIN):
        return way.way
    return f"@{way.way}"


def _choose_opened_call(model: Journey) -> tuple[int, int]:
    """Return the way and the call that are seen first: one in which none of your lines ran."""
    for way_number, way in enumerate(model.ways):
        for call_number, (_, passage) in enumerate(_list_passages(way)):
            if passage.stops and passage.ran.startswith("None"):
                return way_number, call_number
    return 0, 0


def _list_passages(model: Journey) -> list[tuple[str, Passage]]:
    return list(zip(HEADINGS, (model.first, model.again), strict=True))


def list_stations(model: Journey) -> list[StationRow]:
    """Return what happened at each station in both calls."""
    rows = []
    for station, first, again in zip(SPINE, model.first.stops, model.again.stops, strict=False):
        again_words = SAME if first == again else again.words
        rows.append(StationRow(station, first, first.words, again_words))
    return rows


def list_endings(model: Journey) -> list[tuple[str, str, str]]:
    """Return what both calls printed and raised, if one of them did."""
    endings = []
    for heading, field in ENDINGS.items():
        first = cut_text(getattr(model.first, field))
        again = cut_text(getattr(model.again, field))
        if first or again:
            endings.append((heading, first or "nothing", again or "nothing"))
    return endings
