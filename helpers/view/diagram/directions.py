"""A graph -> the way it leads, across or downwards, with the places of boxes and lines of arrows.

A deep or wide graph without a cycle leads downwards where that is narrower.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from helpers.model.graph import Graph
from helpers.view.diagram.boxes import SMALL, box_width, short
from helpers.view.diagram.layered_layout import Layout, layered
from helpers.view.diagram.pixel_positions import (
    MARGIN,
    Spot,
    arrow_down,
    places_down,
)
from helpers.view.diagram.untangling import untangled
from helpers.view.diagram.wrapping import wrapped

ROW, NARROWEST_GAP, CLOSE, LOOP, WIDER = 54, 70, 40, 60, 50
MOST_COLUMNS = 12  # a deeper graph without a cycle leads downwards,
ROOM = 800  # pixels of boxes in one row of a picture that would be wider; bends come on top
WIDEST = 940  # and so does a wider one: beside its list of files, JupyterLab shows 830 pixels
BEND = 0.06
LEAD, TAIL = 14, 14  # pixels of a level piece beside a label; behind it, there is a head


@dataclass(frozen=True)
class Plan:
    """`spots`: pixels that follow layers beside the usual ones, by number -> a spot per key.

    `arrow`: the spots of a path, whether it is one of a fan, and the width of its label -> its
    line, and where that label may stand. `cycle`: some arrows lead back, right of the boxes.
    """

    layout: Layout
    spots: Callable[[dict[int, int]], dict[object, Spot]]
    arrow: Callable
    cycle: bool


def planned(model: Graph, page: bool, step: int) -> Plan:
    """Return the plan of a graph; `page`: it leads downwards and is as narrow as can be."""
    layout = _laid_out(model)
    widths = {node.key: box_width(node) for node in model.nodes}
    cycle, across = _has_cycle(layout), partial(_spots_across, layout, widths)
    usual = _gap(model, NARROWEST_GAP)
    wide = _right(across(usual))
    close = page or wide > WIDEST
    if cycle or not (close or len(layout.layers) > MOST_COLUMNS):
        return Plan(layout, partial(across, usual), _arrow, cycle)
    lower = _laid_out(model, BEND)
    place = places_down(lower, widths)
    if not page and wide <= _right(place(step)):
        return Plan(layout, partial(across, _gap(model, CLOSE)), _arrow, cycle)
    if close and _right(place(step)) > WIDEST:
        lower = _laid_out(model, BEND, partial(wrapped, graph=model, widths=widths, room=ROOM))
        place = places_down(lower, widths)
    return Plan(lower, partial(place, step), arrow_down, cycle)


def _laid_out(model: Graph, bend: float = 1, wrap=None) -> Layout:
    rooms, masks = {node.key: 1 for node in model.nodes}, (1,) * len(model.edges)
    return untangled(layered(model, bend, wrap), masks, rooms, bend=bend)


def _has_cycle(layout: Layout) -> bool:
    layer = {key: number for number, keys in enumerate(layout.layers) for key in keys}
    return any(layer[path[0]] == layer[path[-1]] for path in layout.paths)


def _right(spots: dict[object, Spot]) -> int:
    return max(spot.right for spot in spots.values())


def _gap(model: Graph, narrowest: int) -> int:
    longest = max((len(short(edge.label)) for edge in model.edges), default=0)
    words = round(longest * SMALL) + 60 if longest else 0
    return max(narrowest, words) + (WIDER if model.wide else 0)


def _spots_across(layout: Layout, widths: dict[str, int], gap: int, more=None):
    spots, left = {}, MARGIN
    for number, column in enumerate(layout.layers):
        width = max(widths.get(key, 0) for key in column)
        spots |= {key: Spot(left, round(MARGIN + layout.rows[key] * ROW), width) for key in column}
        left += width + gap + (more or {}).get(number, 0)
    return spots


def _arrow(spots: list[Spot], fan: bool, plate: int) -> tuple[str, int, int]:
    """Return the line through these spots from left to right, and the place of its label.

    A label stands where arrows lie apart, on a level piece as long as its `plate`: near the start,
    but for those of a `fan` near the end.
    """
    start, end = spots[0], spots[-1]
    if start.x == end.x:  # a cycle: out to the right and back
        x, y = start.right, (start.middle + end.middle) // 2
        lift = 10 if start == end else 0
        line = (
            f"M{x} {start.middle - lift} C{x + LOOP} {start.middle - lift},"
            f"{x + LOOP} {end.middle + lift},{x + 4} {end.middle + lift}"
        )
        return line, x + LOOP // 2, y
    first, last = start.right, end.x - 4
    if plate and fan:
        last -= plate + TAIL
    elif plate:
        first += plate + LEAD
    line, left = f"M{start.right} {start.middle} H{first}", first
    for before, after in pairwise(spots):
        right = last if after is end else after.x
        half = (left + right) // 2
        line += f" C{half} {before.middle},{half} {after.middle},{right} {after.middle}"
        line, left = f"{line} H{end.x - 4 if after is end else after.right}", after.right
    if fan:
        return line, last + plate // 2, end.middle
    return line, start.right + LEAD // 2 + plate // 2, start.middle
