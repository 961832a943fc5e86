"""The op list of a job -> a table, and a picture: forward down, backward up beside it."""

from collections import defaultdict, namedtuple
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from ...model.framework_records import JobGraph
from ...model.graphs import Node
from .. import View, diagram
from ..ink import LETTER, drawn_width
from ..markup import grid, one_line
from .arrows import TIP, points_along

LANES = {"input": 0, "variable": 0, "forward": 1, "backward": 2, "update": 3}
HEADINGS = ("inputs, variables", "forward ↓", "backward ↑", "update")
HEADING_WIDTHS = [drawn_width(words, LETTER) + 16 for words in HEADINGS]
COLUMNS = ("pass", "op", "op type", "defined", "reads, attributes", "writes", "appended for")
RETURNED = "→ returned"  # no op can bear this name
MOST_DRAWN = 70  # ops
ROW, STACK, HEAD = 92, 48, 44  # height of a row, of a further box in it, and of the headings
GAP = 25  # between columns
LONGEST = 26  # characters of a name or of what is below it
NEAR, OFF = 5, 26  # pixels: of a line to a box, of a lane beside a box
HIT, SHARED, BEND = 2000, 24, 14  # the price of a box touched, of a place shared with another line
SHIFTS = (0, 9, -9, 17)
Way = tuple[tuple[int, int], ...]  # the corners of a line of straight pieces, ends included
Line = namedtuple("Line", ["source", "target"])  # an arrow


def _text(model: JobGraph) -> str:
    rows = []
    for op in model.ops:
        defined = "by you" if op.own else "" if op.part in ("input", "variable") else "built in"
        reads = ", ".join(f"{argument}={name}" for argument, name in (*op.reads, *op.attrs))
        writes = ", ".join(f"{blob.name}: {blob}" for _, blob in op.writes)
        rows.append((op.part, op.name, op.type, defined, reads, writes, op.near))
    given = [f"returns {name}: {model.blob(name)}" for name in model.returns]
    title, *rest = (one_line(part) for part in (model.title, *given, model.note) if part)
    return "\n".join((title, grid(COLUMNS, rows) if rows else "no ops", *rest))


def _html(model: JobGraph) -> str:
    if not 0 < len(model.ops) <= MOST_DRAWN:
        said = f"{len(model.ops)} ops are too many for one picture. " if model.ops else ""
        return diagram.page(replace(model, note=f"{said}{model.note}"), _text(model))
    kinds = [op.part for op in model.ops] + ["output"] * bool(model.returns)
    alt = f"{model.title}: {len(model.ops)} ops, listed below"
    return diagram.page(model, _text(model), svg(model), alt, kinds)


def svg(model: JobGraph) -> str:
    """Return the picture of a job with at least one op as SVG text."""
    writer = {blob.name: op.name for op in model.ops for _, blob in op.writes}
    boxes, cells, rows = {}, defaultdict(list), _place_rows(model, writer)
    for op in model.ops:
        shapes = [str(list(blob.shape)) for _, blob in op.writes]
        detail = " ".join([op.type, *shapes] if LANES[op.part] else shapes)
        label, kind = f"{'◆ ' * op.own}{op.name}", f"{op.part}{' own' * op.own}"
        boxes[op.name] = Node(op.name, label, kind, detail)
        cells[LANES[op.part], rows[op.name]].append(op.name)
    if model.returns:
        boxes[RETURNED] = Node(RETURNED, "returned", "output")
        cells[LANES["forward"], max(rows.values()) + 1].append(RETURNED)
    spots = _place_boxes(boxes, cells)
    arrows, heads = _route_lines(make_lines(model, writer), spots), []
    for lane in sorted({lane for lane, _ in cells}):
        own = [spots[key] for (of, _), keys in cells.items() if of == lane for key in keys]
        middle = (min(spot.x for spot in own) + max(spot.right for spot in own)) // 2
        place = middle - HEADING_WIDTHS[lane] // 2, diagram.MARGIN, HEADING_WIDTHS[lane]
        heads.append(diagram.box(Node("", HEADINGS[lane], "heading"), diagram.Spot(*place)))
    shown = [diagram.box(node, spots[key], longest=LONGEST) for key, node in boxes.items()]
    far = [diagram.Spot(*at, 0, 0) for arrow in arrows for at in points_along(arrow["line"])]
    size = diagram.far_ends([*spots.values(), *(head["spot"] for head in heads), *far])
    piece = diagram.Piece(*size, (*heads, *shown), arrows)
    return diagram.as_svg(model.title, piece, (node.kind for node in boxes.values()))


def _place_rows(model: JobGraph, writer: dict[str, str]) -> dict[str, int]:
    """Return a row per op: forward ops one below the other, all others beside one of them."""
    rows = {name: row for row, name in enumerate(model.names("forward"))}
    for op in model.ops:
        for _, blob in op.reads:
            if op.part == "forward" and blob in writer:
                rows.setdefault(writer[blob], rows[op.name])
    for op in model.ops:
        rows.setdefault(op.name, rows.get(op.near, 0))
    return rows


def make_lines(model: JobGraph, writer: dict[str, str]) -> list[Line]:
    """Return an arrow per pair of ops; `writer`: the op that writes each blob."""
    read = [(name, op.name) for op in model.ops for _, name in op.reads if name in writer]
    ends = ((writer[n], by) for n, by in (*read, *((name, RETURNED) for name in model.returns)))
    return [Line(*pair) for pair in dict.fromkeys(ends)]


def _place_boxes(boxes: dict[str, Node], cells) -> dict[str, diagram.Spot]:
    """Return a spot per key; those of one cell are side by side, in the first lane stacked."""
    tops, top = {}, diagram.MARGIN + HEAD
    for row in range(1 + max(row for _, row in cells)):
        tops[row] = top, max(ROW, STACK * len(cells.get((0, row), ())) + STACK // 2)
        top += tops[row][1]
    columns = defaultdict(list)  # (lane, place in its cell) -> (key, its row, how deep in its cell)
    for (lane, row), keys in cells.items():
        for place, key in enumerate(keys):
            columns[(lane, place) if lane else (0, 0)].append((key, row, 0 if lane else place))
    spots, left = {}, diagram.MARGIN
    for (lane, _), column in sorted(columns.items()):
        alone = sum(other == lane for other, _ in columns) == 1
        widths = {key: diagram.box_width(boxes[key], LONGEST) for key, *_ in column}
        width = max(HEADING_WIDTHS[lane] * alone, *widths.values())
        for key, row, deep in column:
            top, height = tops[row]
            high = STACK * (len(cells[lane, row]) if lane == 0 else 1)
            x, y = left + (width - widths[key]) // 2, top + (height - high) // 2 + STACK * deep
            spots[key] = diagram.Spot(x, y, widths[key])
        left += width + GAP
    return spots


# -- arrows round the boxes ------------------------------------------------------------------------


def _route_lines(lines: list[Line], spots: dict[str, diagram.Spot]) -> tuple[dict, ...]:
    """Return the arrows; what travels on one is named in the box that it leaves."""
    ways: dict[Line, Way] = {}
    ends = {line: (spots[line.source], spots[line.target]) for line in lines}
    far = {line: abs(a.centre - b.centre) + abs(a.y - b.y) for line, (a, b) in ends.items()}
    for line in sorted(lines, key=far.get):
        others = [spot for key, spot in spots.items() if key not in line[:2]]
        ways[line] = find_way(*ends[line], others, list(ways.values()))
    drawn = {line: "M" + " L".join(f"{x} {y}" for x, y in ways[line]) for line in lines}
    tips = [{"tip": " → ".join(map(one_line, line))} for line in lines]
    return tuple(diagram.labelled("", drawn[x], 0, 0) | t for x, t in zip(lines, tips, strict=True))


def find_way(start: diagram.Spot, end: diagram.Spot, boxes: list, before: list[Way]) -> Way:
    """Return the cheapest way from one box to another: short, clear of boxes and other lines."""
    used = {(x // NEAR, y // NEAR) for way in before for x, y in _points(way)[1:-1]}
    rooms = [(box, NEAR) for box in boxes] + [(start, -1), (end, -1)]
    best, least = (), float("inf")
    for way in sorted(_ways(start, end), key=_length):
        if _length(way) < least:
            hits = sum(_touches(*piece, *room) for room in rooms for piece in pairwise(way))
            shared = sum((x // NEAR, y // NEAR) in used for x, y in _points(way))
            price = _length(way) + HIT * hits + SHARED * shared + BEND * len(way)
            best, least = (way, price) if price < least else (best, least)
    return best


def _touches(one, other, box: diagram.Spot, room: int) -> bool:
    (x, u), (y, v) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    across = x < box.right + room and box.x - room < u
    return across and y < box.bottom + room and box.y - room < v


def _ways(start: diagram.Spot, end: diagram.Spot) -> Iterator[Way]:
    """Yield ways to leave a box on one of its sides and reach another on one of its."""
    for shift in SHIFTS:
        x, u = start.centre + shift, end.centre + shift
        y, v = start.middle + shift // 2, end.middle + shift // 2
        u = x if abs(u - x) <= 2 else u
        out, back = max(start.right, end.right) + OFF + shift, min(start.x, end.x) - OFF - shift
        middle = (start.right + end.x) // 2 + shift
        yield (start.right, y), (middle, y), (middle, v), (end.x - TIP, v)
        yield (start.right, y), (out, y), (out, v), (end.right + TIP, v)
        yield (start.x, y), (back, y), (back, v), (end.x - TIP, v)
        for tip, lane in ((end.y - TIP, end.y - OFF), (end.bottom + TIP, end.bottom + OFF)):
            if abs(y - tip) > 18:  # out to the right, and in from above or below
                yield (start.right, y), (u, y), (u, tip)
            for out in (start.right + 20 + shift, start.right + 40 + shift):
                yield (start.right, y), (out, y), (out, lane + shift), (u, lane + shift), (u, tip)
            for leave, row in ((start.y, start.y - OFF), (start.bottom, start.bottom + OFF)):
                yield (x, leave), (x, row + shift), (u, row + shift), (u, tip)


def _length(way: Way) -> int:
    return sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairwise(way))


def _points(way: Way) -> list[tuple[int, int]]:
    """Return places along a way, a few pixels apart."""
    found = []
    for (x, y), (u, v) in pairwise(way):
        steps = max(1, (abs(u - x) + abs(v - y)) // 8)
        found += [(x + (u - x) * n // steps, y + (v - y) * n // steps) for n in range(steps)]
    return [*found, way[-1]]


job = View(_text, _html)
