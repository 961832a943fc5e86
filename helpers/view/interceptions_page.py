"""Who gets hold of a call -> the stations, each with what may act there, and a table.

A row of the model is a way to intercept a call, such as an evaluator hook, at a station of the map
or around the whole call. It says who uses the way now.
"""

from dataclasses import replace

from ..model.interception_records import Interceptions
from ..model.spine import SPINE
from .markup import render
from .plain_text import join_parts
from .table_view import table

NOBODY = " (nobody)"


def render_interceptions_text(model: Interceptions) -> str:
    """Return a table of the ways that somebody uses, and a line of unused ones per station."""
    used = [row for row in model.rows if row.way in model.taken]
    unused_by_station = {}
    for row in model.rows:
        if row not in used:
            # In a line of unused ways, only another reason than "nobody" is worth its words.
            way = f"{row.way} ({row.now})".replace(NOBODY, "")
            unused_by_station.setdefault(row.station, []).append(way)

    lines = []
    for station, ways in unused_by_station.items():
        lines.append(f"unused, {station}: {', '.join(ways)}")
    return join_parts(table.text(replace(model, rows=tuple(used))), *lines)


def render_interceptions_html(model: Interceptions) -> str:
    """Return the line of stations, below each the ways that act there, and the text form."""
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
