"""Layers of boxes, some wider than a page -> more layers: a row of boxes wraps as words do."""

from helpers.model.graph import Graph
from helpers.view.diagram.straightening import BETWEEN


def wrapped(
    layer: dict[str, int], graph: Graph, widths: dict[str, int], room: int
) -> dict[str, int]:
    """Return a layer per key, of which none is wider than `room` pixels if it has several boxes.

    Boxes of one layer have no arrow between them, so they may stand in any order. What nothing
    leads to goes down, nearer to its readers; so does what leads on to nothing.
    """
    made, read = {edge.target for edge in graph.edges}, {edge.source for edge in graph.edges}
    rows = [[] for _ in range(1 + max(layer.values()))]
    for key, number in layer.items():
        rows[number].append(key)
    found, number = {}, 0
    for row in rows:
        row.sort(key=lambda key: (key not in made) + 2 * (key not in read))
        for part in _parts(row, widths, room):
            found |= dict.fromkeys(part, number)
            number += 1
    return {key: found[key] for key in layer}


def _parts(row: list[str], widths: dict[str, int], room: int) -> list[list[str]]:
    """Return the row in parts of about the same width, as few as fit."""
    whole = sum(widths[key] + BETWEEN for key in row)
    share = whole / -(-whole // room)
    parts, wide = [[]], 0
    for key in row:
        if parts[-1] and wide + widths[key] / 2 > share * len(parts):
            parts.append([])
        parts[-1].append(key)
        wide += widths[key] + BETWEEN
    return parts
