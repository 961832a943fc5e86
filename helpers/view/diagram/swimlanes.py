"""Boxes in lanes and rows -> an SVG picture, with arrows that go round the boxes.

Lanes stand side by side, rows below each other. Boxes that share a lane and a row stand side by
side as well; in the first lane they stand one below the other.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

from helpers.view.diagram import kinds
from helpers.view.diagram.boxes import Piece, as_svg
from helpers.view.diagram.pixel_positions import MARGIN, Spot
from helpers.view.diagram.routing import Route, route
from helpers.view.markup import one_line
from helpers.view.row_limit import cut

CHARACTER, SMALL = 7.9, 7.0  # width of a letter at 13 and at 11.5 pixels
ROW, STACK, HEAD = 92, 48, 44  # height of a row, of a further box in it, and of the headings
GAP, BARE = 28, 64  # between columns: beside the longest label there, and where there is none
PLATE, CLEAR = 17, 4  # height of a label, and its distance from arrows of others
ROUNDS, MORE = 3, 16  # how often rows move apart, and how many pixels each time,
MANY = 40  # but not for more arrows than these
HEAD_ROOM = 14  # pixels around the end of an arrow that no label covers
LONGEST, LONGEST_TIP = 40, 400  # characters of a label, and of a tooltip


@dataclass(frozen=True)
class Box:
    """One box: `kind` picks its ink; `lane` counts from the left, `row` from the top."""

    key: str
    label: str
    detail: str
    kind: str
    lane: int
    row: int


@dataclass(frozen=True)
class Line:
    """One arrow between two keys, with what travels on it, and how many `times`."""

    source: str
    target: str
    label: str = ""
    times: int = 1

    @property
    def said(self) -> str:
        """The label as it is drawn."""
        return _cut(f"{self.label} ×{self.times}" if self.times > 1 else self.label)


def picture(title: str, boxes: list[Box], lines: list[Line], headings: tuple[str, ...]) -> str:
    """Return the picture as SVG text; a lane without boxes takes no room."""
    more, spots, routes, arrows = Counter(), {}, [], []
    for _ in range(
        ROUNDS if len(lines) <= MANY else 1
    ):  # rows move apart where a label has no room
        spots = _spots(boxes, lines, headings, more)
        routes = _routes(lines, spots)
        arrows = _labelled(lines, routes, spots)
        crowded = {_row_above(arrow["y"], boxes, spots) for arrow in arrows if arrow["crowded"]}
        if not crowded:
            break
        more.update(dict.fromkeys(crowded, MORE))
    piece = Piece(
        max([spot.right for spot in spots.values()] + [r.right for r in routes]) + 3 * MARGIN,
        max([spot.bottom for spot in spots.values()] + [r.low for r in routes]) + MARGIN,
        (*_heads(boxes, spots, headings), *(_shown(box, spots[box.key]) for box in boxes)),
        tuple(arrows),
    )
    return as_svg(title, piece, (box.kind for box in boxes))


def _row_above(y: int, boxes: list[Box], spots) -> int:
    return max((box.row for box in boxes if spots[box.key].y <= y), default=0)


def _spots(boxes: list[Box], lines: list[Line], headings, more) -> dict[str, Spot]:
    cells = defaultdict(list)
    for box in boxes:
        cells[box.lane, box.row].append(box)
    tops, left, spots = _tops(cells, more), MARGIN, {}
    lanes = {lane: _columns(lane, cells) for lane in sorted({box.lane for box in boxes})}
    gaps = iter(_gaps([column for columns in lanes.values() for column in columns], lines))
    for lane, columns in lanes.items():
        narrowest = _head_width(headings[lane]) if len(columns) == 1 else 0
        for column in columns:
            width = max(narrowest, *(_width(box) for box, _ in column))
            for box, deep in column:
                own, (top, height) = _width(box), tops[box.row]
                high = top + (height - STACK * (len(cells[lane, box.row]) if lane == 0 else 1)) // 2
                spots[box.key] = Spot(left + (width - own) // 2, high + STACK * deep, own)
            left += width + next(gaps)
    return spots


def _gaps(columns, lines: list[Line]) -> list[int]:
    """Return the room right of each column: for the labels between it and the next one.

    What an op sends down its own column is named there, and needs no room beside it.
    """
    at = {box.key: n for n, column in enumerate(columns) for box, _ in column}
    there = {(each.source, each.label) for each in lines if at[each.source] == at[each.target]}
    gaps = [BARE] * len(columns)
    for line in lines:
        first, last = sorted((at[line.source], at[line.target]))
        if last == first + 1 and (line.times > 1 or (line.source, line.label) not in there):
            gaps[first] = max(gaps[first], _plate(line.said) + GAP)
    return gaps


def _columns(lane: int, cells) -> list[list[tuple[Box, int]]]:
    """Return the columns of a lane: pairs of a box and its depth within its cell."""
    own = [found for (where, _), found in sorted(cells.items()) if where == lane]
    if lane == 0:
        return [[(box, deep) for found in own for deep, box in enumerate(found)]]
    most = max(map(len, own))
    return [[(found[place], 0) for found in own if place < len(found)] for place in range(most)]


def _tops(cells, more) -> dict[int, tuple[int, int]]:
    """Return the top and the height of every row; `more` pixels follow a row, by its number."""
    tops, top = {}, MARGIN + HEAD
    for row in range(1 + max(row for _, row in cells)):
        height = max(ROW, STACK * len(cells.get((0, row), ())) + STACK // 2)
        tops[row] = (top, height)
        top += height + more[row]
    return tops


def _width(box: Box) -> int:
    wide = max(len(_cut(box.label)) * CHARACTER, len(_cut(box.detail)) * SMALL)
    return round(max(wide, 40) + 22) + kinds.room(box.kind)


def _head_width(heading: str) -> int:
    return round(len(heading) * CHARACTER) + 16


def _plate(label: str) -> int:
    return round(len(_cut(label)) * SMALL + 8)


def _cut(words: str) -> str:
    words, half = one_line(words), (LONGEST - 1) // 2
    return words if len(words) <= LONGEST else f"{words[:half]}…{words[-half:]}"


def _heads(boxes, spots, headings):
    """Yield a box without ink above each lane, with its heading."""
    for lane in sorted({box.lane for box in boxes}):
        own = [spots[box.key] for box in boxes if box.lane == lane]
        left, right = min(spot.x for spot in own), max(spot.right for spot in own)
        width = _head_width(headings[lane])
        spot = Spot((left + right - width) // 2, MARGIN, width)
        yield _shown(Box("", headings[lane], "", "heading", lane, 0), spot)


def _shown(box: Box, spot: Spot) -> dict:
    return {
        "kind": box.kind,
        "spot": spot,
        "tip": "" if len(box.label) <= LONGEST else one_line(cut(box.label, LONGEST_TIP)),
        "centre": spot.centre,
        "label": _cut(box.label),
        "detail": _cut(box.detail),
        "base": spot.y + (17 if box.detail else 25),
    }


def _routes(lines: list[Line], spots) -> list[Route]:
    """Return a route per line; short ones choose first."""
    far = {line: _far(spots[line.source], spots[line.target]) for line in lines}
    done = {}
    for line in sorted(lines, key=far.get):
        others = [spot for key, spot in spots.items() if key not in (line.source, line.target)]
        done[line] = route(spots[line.source], spots[line.target], others, list(done.values()))
    return [done[line] for line in lines]


def _far(one: Spot, other: Spot) -> int:
    return abs(one.centre - other.centre) + abs(one.y - other.y)


def _labelled(lines, routes, spots) -> list[dict]:
    """Return the arrows for the template; what one op sends to many is named once.

    That is on the first of its arrows, the shortest before, where the label covers nothing; or
    else where it covers only arrows of the same op. A label that would stand on what another op
    sends is left out: it could be read as that one's.
    """
    ways, groups = dict(zip(lines, routes, strict=True)), defaultdict(list)
    for line in sorted(lines, key=lambda line: ways[line].length):
        groups[line.source, line.label, line if line.times > 1 else None].append(line)
    plain = {"label": "", "x": 0, "y": 0, "crowded": False}
    drawn = {line: {"line": way.path, **plain} for line, way in ways.items()}
    solid = [(*way.corners[-1], HEAD_ROOM) for way in routes]
    for group in groups.values():
        line, (x, y), crowded = _label_place(group, ways, [*spots.values()], solid)
        if line is not None:
            drawn[line] |= {"label": line.said, "x": x, "y": y, "crowded": crowded}
            solid.append((x, y, _plate(line.said)))
    return [{**drawn[line], "plate": _plate(drawn[line]["label"])} for line in lines]


def _label_place(group: list[Line], ways, boxes, solid):
    """Return one of the arrows that one op sends the same on, and the place of its label there.

    And whether the label covers something; the arrow is None where it would be read as another's.
    """
    best, found = None, (None, (0, 0), False)
    for line in group:
        plate, own = _plate(line.said), [w for o, w in ways.items() if o.source == line.source]
        others = [way for other, way in ways.items() if other.source != line.source]
        siblings = [way for way in own if way is not ways[line]]
        covers, at = ways[line].clear_place(plate, PLATE, boxes, solid, others + siblings, CLEAR)
        if not covers:
            return line, at, False
        _, at = ways[line].clear_place(plate, PLATE, boxes, solid, others * 9 + siblings, CLEAR)
        told_apart = not any(other.under(*at, plate, PLATE + CLEAR) for other in others)
        if told_apart and (best is None or covers < best):
            best, found = covers, (line, at, True)
    return found
