"""Ways to intercept a call -> the stations of the map, each with the ways there, and a table.
A row of the model is a way to intercept a call, such as an evaluator hook, at a *station* (one of
the places that a call passes) or around the whole call. The row says who uses the way now. The
names of the ways that somebody uses are in `model.taken`.
"""

from dataclasses import replace

from ..model.interception_records import Interceptions
from ..model.spine import SPINE
from .markup import render
from .plain_text import join_nonempty
from .table_view import table

NOBODY = " (nobody)"


def render_interceptions_text(model: Interceptions) -> str:
    """Return a table of the ways that somebody uses, and a line of unused ways for each station."""
    used = [row for row in model.rows if row.way in model.taken]
    unused_by_station = {}  # name of a station -> its unused ways
    for row in model.rows:
        if row not in used:
            # `row.now` says who uses the way. "nobody" is what "unused" says already.
            way = f"{row.way} ({row.now})".replace(NOBODY, "")
            unused_by_station.setdefault(row.station, []).append(way)

    lines = []
    for station, ways in unused_by_station.items():
        lines.append(f"unused, {station}: {', '.join(ways)}")
    return join_nonempty(table.text(replace(model, rows=tuple(used))), *lines)


def render_interceptions_html(model: Interceptions) -> str:
    """Return the line of stations, below each the ways that act there, and the text form."""
    # Pairs of a station and the rows of the model that act there.
    stations = [(station, model.at(station.name)) for station in SPINE]
    at_stations = []
    for _, rows in stations:
        at_stations += rows
    # The other ways act around the call, at no station.
    return render(
        "interceptions.html",
        model=model,
        stations=stations,
        around=[row for row in model.rows if row not in at_stations],
        taken=model.taken,
        body=render_interceptions_text(model),
    )
