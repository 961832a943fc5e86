"""The op list of a job -> a table of all ops, and a picture: forward down, backward up beside it.

Lanes stand side by side, rows below each other. Each op of the backward pass stands in the row of
the forward op that it was appended for, so the way back can be followed beside the way there.
"""

from collections import defaultdict
from dataclasses import dataclass, replace

from helpers.model.graph import Node
from helpers.model.job import JobGraph, JobOp
from helpers.view import View
from helpers.view.diagram.labels import crowded, roomy, spread
from helpers.view.diagram.routing import Way, length_of, points_of, rounded, route
from helpers.view.diagram.shapes import (
    BOX,
    MARGIN,
    Piece,
    Spot,
    as_svg,
    box,
    box_width,
    far_ends,
    labelled,
    legend,
    plate_width,
)
from helpers.view.markup import grid, one_line, render
from helpers.view.picture import LETTER, SMALLEST, drawn_width, pictured

LANES = {"input": 0, "variable": 0, "forward": 1, "backward": 2, "update": 3}
HEADINGS = ("inputs, variables", "forward ↓", "backward ↑", "update")
COLUMNS = ("pass", "op", "op type", "defined", "reads, attributes", "writes", "appended for")
RETURNED = "→ returned"  # no op can bear this name
MOST_DRAWN = 70  # ops
ROW, STACK, HEAD = 92, 48, 44  # height of a row, of a further box in it, and of the headings
GAP, BARE = 28, 64  # between columns: beside the longest label there, and where there is none
LONGEST = 40  # characters of a name or a label


@dataclass(frozen=True)
class Line:
    """One arrow between two keys, with what travels on it."""

    source: str
    target: str
    label: str


def text(model: JobGraph) -> str:
    """Return one line per op, in the order in which they run."""
    body = grid(COLUMNS, [_row(op) for op in model.ops]) if model.ops else "no ops"
    given = [f"returns {name}: {model.blob(name)}" for name in model.returns]
    parts = (model.title, *given, model.note)
    title, *rest = (one_line(part) for part in parts if part)
    return "\n".join((title, body, *rest))


def _row(op: JobOp) -> tuple[str, ...]:
    defined = "by you" if op.own else "" if op.part in ("input", "variable") else "built in"
    reads = ", ".join(f"{argument}={name}" for argument, name in (*op.reads, *op.attrs))
    writes = ", ".join(f"{blob.name}: {blob}" for _, blob in op.writes)
    return (op.part, op.name, op.type, defined, reads, writes, op.near)


def html(model: JobGraph) -> str:
    """Return the picture as an image, and the table of ops folded below it."""
    if not 0 < len(model.ops) <= MOST_DRAWN:
        said = f"{len(model.ops)} ops are too many for one picture. " if model.ops else ""
        told = replace(model, note=f"{said}{model.note}")
        return render("diagram.html", model=told, image="", legend="", body=text(model))
    return render(
        "diagram.html",
        model=model,
        alt=f"{model.title}: {len(model.ops)} ops, listed below",
        body=text(model),
        legend=legend([op.part for op in model.ops] + ["output"] * bool(model.returns)),
        **pictured(svg(model), SMALLEST),
    )


def svg(model: JobGraph) -> str:
    """Return the picture of a job with at least one op as SVG text."""
    boxes, cells = {}, defaultdict(list)
    rows = _rows(model)
    for op in model.ops:
        detail = ", ".join((op.type, *(f"{name}={value}" for name, value in op.attrs)))
        label, kind = f"{'◆ ' * op.own}{op.name}", f"{op.part}{' own' * op.own}"
        boxes[op.name] = Node(op.name, label, kind, detail)
        cells[LANES[op.part], rows[op.name]].append(op.name)
    if model.returns:
        boxes[RETURNED] = Node(RETURNED, "returned", "output")
        cells[LANES["forward"], max(rows.values()) + 1].append(RETURNED)
    lines = _lines(model)
    layers = defaultdict(list)
    for (_, row), keys in sorted(cells.items(), key=lambda cell: cell[0][1]):
        layers[row] += keys

    def drawn(more):
        spots = _spots(boxes, cells, lines, more)
        arrows, low, right = _arrows(lines, spots)
        heads = _heads(spots, cells)
        shown = [*heads, *(box(node, spots[key], longest=LONGEST) for key, node in boxes.items())]
        end, bottom = far_ends([*spots.values(), *(head["spot"] for head in heads)])
        size = max(end, right + MARGIN) + 2 * MARGIN, max(bottom, low + MARGIN)
        return Piece(*size, tuple(shown), arrows), spots

    piece = roomy(drawn, list(layers.values()), True)
    misread = set(crowded(piece.arrows, ()))
    arrows = (
        {**a, "label": "" if n in misread else a["label"]} for n, a in enumerate(piece.arrows)
    )
    piece = replace(piece, arrows=tuple(arrows))
    return as_svg(model.title, piece, (node.kind for node in boxes.values()))


def _rows(model: JobGraph) -> dict[str, int]:
    """Return a row per op: forward ops one below the other, all others beside one of them."""
    rows = {name: row for row, name in enumerate(model.names("forward"))}
    writer = _writers(model)
    for op in model.ops:
        for _, blob in op.reads:
            if op.part == "forward" and blob in writer:
                rows.setdefault(writer[blob], rows[op.name])
    for op in model.ops:
        rows.setdefault(op.name, rows.get(op.near, 0))
    return rows


def _writers(model: JobGraph) -> dict[str, str]:
    return {blob.name: op.name for op in model.ops for _, blob in op.writes}


def _lines(model: JobGraph) -> list[Line]:
    """Return an arrow per pair of ops, labelled with what travels on it, and how often."""
    writer, found = _writers(model), defaultdict(list)
    for op in model.ops:
        for _, name in op.reads:
            if name in writer:
                found[writer[name], op.name].append(str(model.blob(name)))
    for name in model.returns:
        found[writer[name], RETURNED].append(str(model.blob(name)))
    lines = []
    for ends, said in found.items():
        times = len(said) // len(set(said))
        label = ", ".join(dict.fromkeys(said)) + (f" ×{times}" if times > 1 else "")
        lines.append(Line(*ends, label))
    return lines


def _spots(boxes: dict[str, Node], cells, lines: list[Line], more) -> dict[str, Spot]:
    """Return a spot per key; `more` pixels follow a row, by its number.

    Boxes that share a lane and a row stand side by side; in the first lane one below the other.
    """
    tops, top = {}, MARGIN + HEAD
    for row in range(1 + max(row for _, row in cells)):
        tops[row] = top, max(ROW, STACK * len(cells.get((0, row), ())) + STACK // 2)
        top += tops[row][1] + more.get(row, 0)
    columns = defaultdict(list)  # (lane, place in its cell) -> (key, its row, how deep in its cell)
    for (lane, row), keys in cells.items():
        for place, key in enumerate(keys):
            columns[(lane, place) if lane else (0, 0)].append((key, row, 0 if lane else place))
    ordered = sorted(columns.items())
    gaps = _gaps([[key for key, *_ in column] for _, column in ordered], lines)
    spots, left = {}, MARGIN
    for ((lane, _), column), gap in zip(ordered, gaps, strict=True):
        alone = sum(other == lane for other, _ in columns) == 1
        widths = {key: box_width(boxes[key], LONGEST) for key, *_ in column}
        width = max(_head_width(lane) * alone, *widths.values(), 0)
        for key, row, deep in column:
            top, height = tops[row]
            high = STACK * (len(cells[lane, row]) if lane == 0 else 1)
            x, y = left + (width - widths[key]) // 2, top + (height - high) // 2 + STACK * deep
            spots[key] = Spot(x, y, widths[key], BOX)
        left += width + gap
    return spots


def _gaps(columns: list[list[str]], lines: list[Line]) -> list[int]:
    """Return the room right of each column: for the labels between it and the next one.

    What an op sends down its own column is named there, and needs no room beside it.
    """
    at = {key: n for n, column in enumerate(columns) for key in column}
    there = {(each.source, each.label) for each in lines if at[each.source] == at[each.target]}
    gaps = [BARE] * len(columns)
    for line in lines:
        first, last = sorted((at[line.source], at[line.target]))
        if last == first + 1 and (line.source, line.label) not in there:
            gaps[first] = max(gaps[first], plate_width(line.label) + GAP)
    return gaps


def _head_width(lane: int) -> int:
    return drawn_width(HEADINGS[lane], LETTER) + 16


def _heads(spots: dict[str, Spot], cells) -> list[dict]:
    """Return a box without ink above each lane, with its heading."""
    heads = []
    for lane in sorted({lane for lane, _ in cells}):
        own = [spots[key] for (of, _), keys in cells.items() if of == lane for key in keys]
        left, right = min(spot.x for spot in own), max(spot.right for spot in own)
        width = _head_width(lane)
        spot = Spot((left + right - width) // 2, MARGIN, width)
        heads.append(box(Node("", HEADINGS[lane], "heading"), spot))
    return heads


def _arrows(lines: list[Line], spots: dict[str, Spot]) -> tuple[tuple[dict, ...], int, int]:
    """Return the arrows for the template, and how far they reach down and to the right.

    Short ones choose their way first. What one op sends to many is named once, on the shortest; a
    label that would stand on what another op sends is left out: it could be read as that one's.
    """
    ways: dict[Line, Way] = {}
    ends = {line: (spots[line.source], spots[line.target]) for line in lines}
    far = {line: abs(a.centre - b.centre) + abs(a.y - b.y) for line, (a, b) in ends.items()}
    for line in sorted(lines, key=far.get):
        others = [spot for key, spot in spots.items() if key not in (line.source, line.target)]
        before = list(ways.values())
        ways[line] = route(*ends[line], others, before)
    named, arrows = set(), {}
    for line in sorted(lines, key=lambda line: length_of(ways[line])):
        label = "" if (line.source, line.label) in named else line.label
        named.add((line.source, line.label))
        points = points_of(ways[line])
        middle = points[len(points) * 9 // 20]
        arrows[line] = {**labelled(label, rounded(ways[line]), *middle), "group": line.source}
    drawn = spread([arrows[line] for line in lines], spots.values())
    corners = [corner for way in ways.values() for corner in way]
    low, right = (max((corner[axis] for corner in corners), default=0) for axis in (1, 0))
    return drawn, low, right


job = View(text, html)
