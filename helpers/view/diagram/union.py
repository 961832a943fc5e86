"""The graphs of all moments of a run -> one picture in which only arrows move.

All that is ever there gets a place of its own, once, with room for the widest that it ever says. A
moment is then a state: which parts are there, which are new, and which have just gone (ghosts).
"""

from collections import defaultdict
from collections.abc import Sequence

from helpers.model.graph import Graph
from helpers.view.diagram.layered_layout import layered
from helpers.view.diagram.moments import Picture, Union, says, states
from helpers.view.diagram.pixel_positions import MARGIN
from helpers.view.diagram.shapes import HIGH, Arrow, Box, arrow
from helpers.view.diagram.untangling import untangled
from helpers.view.markup import render

LETTER, SMALL = 7.9, 7.0  # width of a letter at 13 and at 11.5 pixels
ROW, GAP, PLATE = 36, 60, 17  # pixels
OBJECT, BEND = 1.4, 0.6  # rows that an object takes, and an arrow that passes by
ALONG = (0.5, 0.64, 0.38, 0.76, 0.28, 0.88)  # where on a line a label may stand, the best first


def picture(graphs: Sequence[Graph], title: str = "") -> Picture:
    """Return the picture of graphs that share their keys: one per moment, the first may be empty.

    ValueError if there is no node in any of them.
    """
    union = Union(graphs)
    if not union.boxes:
        raise ValueError("there is nothing to draw: no graph has a node")
    parts = {f"n{number}": part for number, part in enumerate(union.boxes.values())}
    parts |= {f"a{number}": part for number, part in enumerate(union.arrows.values())}
    return Picture(_drawn(title, union, *_placed(union)), states(parts, len(graphs)))


def _placed(union: Union) -> tuple[dict[str, Box], dict[tuple[str, str], Arrow]]:
    graph = union.graph()
    names = {node.key for node in graph.nodes if node.kind == "name"}
    masks = tuple(part.mask for part in union.arrows.values())
    rooms = {key: 1 if key in names else OBJECT for key in union.boxes}
    layout = untangled(layered(graph), masks, rooms, names, BEND)
    widths = {key: max(map(_width, part.said)) for key, part in union.boxes.items()}
    boxes, bends, left = {}, {}, MARGIN
    for column in layout.layers:
        width = max((widths[key] for key in column if key in widths), default=0)
        for key in column:
            middle = MARGIN + HIGH // 2 + round(layout.rows[key] * ROW)
            if key in widths:
                wide = width if key in names else widths[key]  # names are a column of equal tags
                boxes[key] = Box(union.boxes[key].thing.kind, left, middle, wide)
            else:
                bends[key] = (left, left + width, middle)
        left += width + _gap(column, layout.paths, union)
    return boxes, _arrows(layout, union, boxes, bends)


def _gap(column, paths, union: Union) -> int:
    """Return the room right of a column: more where a long label stands."""
    inside, longest = set(column), 0
    for path, part in zip(paths, union.arrows.values(), strict=True):
        if path[0] in inside:
            longest = max(longest, *(len(label) for (label,) in part.said))
    return GAP + round(longest * SMALL)


def _arrows(layout, union: Union, boxes, bends) -> dict[tuple[str, str], Arrow]:
    """Return the line of each arrow; those that reach one box reach it side by side."""
    come = defaultdict(list)
    for number, path in enumerate(layout.paths):
        come[path[-1]].append((layout.rows[path[-2]], number))
    found = {}
    for number, (ends, path) in enumerate(zip(union.arrows, layout.paths, strict=True)):
        order = [near for _, near in sorted(come[path[-1]])]
        place = (order.index(number) + 1) / (len(order) + 1)
        through = [bends[key] for key in path[1:-1]]
        found[ends] = arrow(boxes[ends[0]], boxes[ends[1]], through, place)
    return found


def _width(words: tuple[str, str]) -> int:
    label, detail = words
    return round(max(len(label) * LETTER, len(detail) * SMALL, 24) + 28)


def _drawn(title: str, union: Union, boxes, arrows) -> str:
    keys = {key: f"n{number}" for number, key in enumerate(union.boxes)}
    slots: dict[tuple, int] = {}
    places = _label_places(union.arrows, arrows)
    lines = [
        {
            "key": f"a{number}",
            "arrow": arrows[ends],
            "says": says(f"a{number}", part),
            "place": places[ends],
            "words": _told(union, ends),
            "name": _name(union.boxes[ends[0]]),
            "slot": slots.setdefault((ends[0], part.thing.label), len(slots)),
            "ends": (keys[ends[0]], keys[ends[1]]),
        }
        for number, (ends, part) in enumerate(union.arrows.items())
    ]
    shown = [
        {"key": keys[key], "box": boxes[key], "says": says(keys[key], part)}
        for key, part in union.boxes.items()
    ]
    right = max([b.right for b in boxes.values()] + [a.right for a in arrows.values()])
    low = max([b.bottom for b in boxes.values()] + [a.bottom for a in arrows.values()])
    return render(
        "union.svg",
        title=title,
        width=right + MARGIN,
        height=low + MARGIN,
        boxes=shown,
        arrows=lines,
    )


def _name(part) -> str:
    """Return what a box is called if it is a name's, "" for any other."""
    return list(part.said)[-1][0] if part.thing.kind == "name" else ""


def _told(union: Union, ends: tuple[str, str]) -> str:
    """Return the arrow in words, for those who do not see it."""
    source, target = (" ".join(filter(None, list(union.boxes[key].said)[-1])) for key in ends)
    label = list(union.arrows[ends].said)[-1][0]
    return f"{source} {label or 'refers to'} {target}"


def _label_places(parts, arrows: dict[tuple, Arrow]) -> dict[tuple, tuple[int, int]]:
    """Return where the label of each arrow stands: on its line, apart from the others' labels."""
    taken, places = [], {}
    for ends, arrow_ in arrows.items():
        wide = round(max(len(label) for (label,) in parts[ends].said) * SMALL) + 6

        def covered(place, wide=wide):
            return sum(
                abs(place[0] - x) < (wide + other) / 2 and abs(place[1] - y) < PLATE
                for x, y, other in taken
            )

        places[ends] = min(map(arrow_.at, ALONG), key=covered)
        if wide > 6:
            taken.append((*places[ends], wide))
    return places
