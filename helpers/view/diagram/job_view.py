"""The op list of a job -> a table of all ops, and a picture: forward down, backward up beside it.

Lanes stand side by side, rows below each other. Each op of the backward pass stands in the row of
the forward op that it was appended for, so the way back can be followed beside the way there.
"""

from collections import defaultdict
from dataclasses import replace
from typing import NamedTuple

from helpers.model.framework_records import JobGraph
from helpers.model.graphs import Node
from helpers.view import View, diagram
from helpers.view.diagram.arrows import (
    Way,
    draw_roomy,
    find_way,
    length_of,
    place_labels,
    points_of,
    round_corners,
)
from helpers.view.ink import LETTER, drawn_width, pictured
from helpers.view.markup import grid, one_line, render

LANES = {"input": 0, "variable": 0, "forward": 1, "backward": 2, "update": 3}
HEADINGS = ("inputs, variables", "forward ↓", "backward ↑", "update")
COLUMNS = ("pass", "op", "op type", "defined", "reads, attributes", "writes", "appended for")
RETURNED = "→ returned"  # no op can bear this name
MOST_DRAWN = 70  # ops
ROW, STACK, HEAD = 92, 48, 44  # height of a row, of a further box in it, and of the headings
GAP, BARE = 28, 64  # between columns: beside the longest label there, and where there is none
LONGEST = 40  # characters of a name or a label


class Line(NamedTuple):
    """One arrow between two keys, with what travels on it."""

    source: str
    target: str
    label: str


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
        told = replace(model, note=f"{said}{model.note}")
        return render("diagram.html", model=told, image="", legend="", body=_text(model))
    return render(
        "diagram.html",
        model=model,
        alt=f"{model.title}: {len(model.ops)} ops, listed below",
        body=_text(model),
        legend=diagram.legend([op.part for op in model.ops] + ["output"] * bool(model.returns)),
        **pictured(svg(model)),
    )


def svg(model: JobGraph) -> str:
    """Return the picture of a job with at least one op as SVG text."""
    boxes, cells = {}, defaultdict(list)
    rows = _place_rows(model)
    for op in model.ops:
        detail = ", ".join((op.type, *(f"{name}={value}" for name, value in op.attrs)))
        label, kind = f"{'◆ ' * op.own}{op.name}", f"{op.part}{' own' * op.own}"
        boxes[op.name] = Node(op.name, label, kind, detail)
        cells[LANES[op.part], rows[op.name]].append(op.name)
    if model.returns:
        boxes[RETURNED] = Node(RETURNED, "returned", "output")
        cells[LANES["forward"], max(rows.values()) + 1].append(RETURNED)
    lines = _make_lines(model)
    layers = defaultdict(list)
    for (_, row), keys in sorted(cells.items(), key=lambda cell: cell[0][1]):
        layers[row] += keys

    def draw(more):
        spots = _place_boxes(boxes, cells, lines, more)
        arrows, low, right = _route_lines(lines, spots)
        heads = _place_headings(spots, cells)
        shown = [
            *heads,
            *(diagram.box(node, spots[key], longest=LONGEST) for key, node in boxes.items()),
        ]
        end, bottom = diagram.far_ends([*spots.values(), *(head["spot"] for head in heads)])
        size = (
            max(end, right + diagram.MARGIN) + 2 * diagram.MARGIN,
            max(bottom, low + diagram.MARGIN),
        )
        return diagram.Piece(*size, tuple(shown), arrows), spots

    piece = draw_roomy(draw, list(layers.values()), True)
    # a label that would stand on what another op sends could be read as that one's
    arrows = ({**a, "label": "" if a["crowded"] else a["label"]} for a in piece.arrows)
    piece = replace(piece, arrows=tuple(arrows))
    return diagram.as_svg(model.title, piece, (node.kind for node in boxes.values()))


def _place_rows(model: JobGraph) -> dict[str, int]:
    """Return a row per op: forward ops one below the other, all others beside one of them."""
    rows = {name: row for row, name in enumerate(model.names("forward"))}
    writer = _find_writers(model)
    for op in model.ops:
        for _, blob in op.reads:
            if op.part == "forward" and blob in writer:
                rows.setdefault(writer[blob], rows[op.name])
    for op in model.ops:
        rows.setdefault(op.name, rows.get(op.near, 0))
    return rows


def _find_writers(model: JobGraph) -> dict[str, str]:
    return {blob.name: op.name for op in model.ops for _, blob in op.writes}


def _make_lines(model: JobGraph) -> list[Line]:
    writer, found = _find_writers(model), defaultdict(list)
    read = [(name, op.name) for op in model.ops for _, name in op.reads if name in writer]
    for name, reader in (*read, *((name, RETURNED) for name in model.returns)):
        found[writer[name], reader].append(str(model.blob(name)))
    lines = []
    for ends, said in found.items():
        times = len(said) // len(set(said))
        label = ", ".join(dict.fromkeys(said)) + (f" ×{times}" if times > 1 else "")
        lines.append(Line(*ends, label))
    return lines


def _place_boxes(boxes: dict[str, Node], cells, lines: list[Line], more) -> dict[str, diagram.Spot]:
    """Return a spot per key; those of one cell stand side by side, in the first lane stacked."""
    tops, top = {}, diagram.MARGIN + HEAD
    for row in range(1 + max(row for _, row in cells)):
        tops[row] = top, max(ROW, STACK * len(cells.get((0, row), ())) + STACK // 2)
        top += tops[row][1] + more.get(row, 0)
    columns = defaultdict(list)  # (lane, place in its cell) -> (key, its row, how deep in its cell)
    for (lane, row), keys in cells.items():
        for place, key in enumerate(keys):
            columns[(lane, place) if lane else (0, 0)].append((key, row, 0 if lane else place))
    ordered = sorted(columns.items())
    gaps = _find_gaps([[key for key, *_ in column] for _, column in ordered], lines)
    spots, left = {}, diagram.MARGIN
    for ((lane, _), column), gap in zip(ordered, gaps, strict=True):
        alone = sum(other == lane for other, _ in columns) == 1
        widths = {key: diagram.box_width(boxes[key], LONGEST) for key, *_ in column}
        width = max(_heading_width(lane) * alone, *widths.values(), 0)
        for key, row, deep in column:
            top, height = tops[row]
            high = STACK * (len(cells[lane, row]) if lane == 0 else 1)
            x, y = left + (width - widths[key]) // 2, top + (height - high) // 2 + STACK * deep
            spots[key] = diagram.Spot(x, y, widths[key], diagram.BOX)
        left += width + gap
    return spots


def _find_gaps(columns: list[list[str]], lines: list[Line]) -> list[int]:
    """Return the room right of each column: for labels that do not stand in their own column."""
    at = {key: n for n, column in enumerate(columns) for key in column}
    there = {(each.source, each.label) for each in lines if at[each.source] == at[each.target]}
    gaps = [BARE] * len(columns)
    for line in lines:
        first, last = sorted((at[line.source], at[line.target]))
        if last == first + 1 and (line.source, line.label) not in there:
            gaps[first] = max(gaps[first], diagram.plate_width(line.label) + GAP)
    return gaps


def _heading_width(lane: int) -> int:
    return drawn_width(HEADINGS[lane], LETTER) + 16


def _place_headings(spots: dict[str, diagram.Spot], cells) -> list[dict]:
    heads = []
    for lane in sorted({lane for lane, _ in cells}):
        own = [spots[key] for (of, _), keys in cells.items() if of == lane for key in keys]
        left, right = min(spot.x for spot in own), max(spot.right for spot in own)
        width = _heading_width(lane)
        spot = diagram.Spot((left + right - width) // 2, diagram.MARGIN, width)
        heads.append(diagram.box(Node("", HEADINGS[lane], "heading"), spot))
    return heads


def _route_lines(
    lines: list[Line], spots: dict[str, diagram.Spot]
) -> tuple[tuple[dict, ...], int, int]:
    """Return the arrows, and how far they reach; what one op sends to many is named once."""
    ways: dict[Line, Way] = {}
    ends = {line: (spots[line.source], spots[line.target]) for line in lines}
    far = {line: abs(a.centre - b.centre) + abs(a.y - b.y) for line, (a, b) in ends.items()}
    for line in sorted(lines, key=far.get):
        others = [spot for key, spot in spots.items() if key not in line[:2]]
        ways[line] = find_way(*ends[line], others, list(ways.values()))
    named, arrows = set(), {}
    for line in sorted(lines, key=lambda line: length_of(ways[line])):
        label = "" if (line.source, line.label) in named else line.label
        named.add((line.source, line.label))
        points = points_of(ways[line])
        middle = points[len(points) * 9 // 20]
        arrow = diagram.labelled(label, round_corners(ways[line]), *middle)
        arrows[line] = {**arrow, "group": line.source}
    drawn = place_labels([arrows[line] for line in lines], spots.values())
    corners = [corner for way in ways.values() for corner in way]
    low, right = (max((corner[axis] for corner in corners), default=0) for axis in (1, 0))
    return drawn, low, right


job = View(_text, _html)
