"""Who gets hold of a call -> the stations, each with what may act there, and a table."""

from dataclasses import replace

from ..model.spine import SPINE
from .markup import render
from .plain_text import join_parts
from .table_view import table

NOBODY = " (nobody)"


def render_interceptions_text(model) -> str:
    """Return a table of the ways in that are used, and a line per station of the others."""
    used = [row for row in model.rows if row.way in model.taken]
    unused_by_station = {}
    for row in model.rows:
        if row not in used:
            way = f"{row.way} ({row.now})".replace(NOBODY, "")
            unused_by_station.setdefault(row.station, []).append(way)

    lines = []
    for station, ways in unused_by_station.items():
        lines.append(f"unused, {station}: {', '.join(ways)}")
    return join_parts(table.text(replace(model, rows=tuple(used))), *lines)


def render_interceptions_html(model) -> str:
    """Return the stations, with who is there hanging at each; the list of all ways in folds."""
    stations = [(station, model.at(station.name)) for station in SPINE]
    at_stations = []
    for _, rows in stations:
        at_stations += rows
    return render(
        "interceptions.html",
        model=model,
        stations=stations,
        around=[row for row in model.rows if row not in at_stations],
        taken=model.taken,
        body=render_interceptions_text(model),
    )
