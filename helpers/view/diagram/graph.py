"""A graph -> a picture with a text equivalent: boxes and labelled arrows, left to right.

A deep or wide graph without a cycle leads downwards where that is narrower, and so does one with
bodies, each of which is drawn inside of its caller.

The picture is an SVG inside an image, because that is what JupyterLab shows of an untrusted
notebook; `view.picture` says what becomes of it elsewhere.
"""

from collections import Counter
from dataclasses import replace
from functools import partial

from helpers.model.bodies import Nest, nested
from helpers.model.graph import Edge, Graph
from helpers.model.phrase import counted
from helpers.view import row_limit
from helpers.view.diagram import kinds, nesting
from helpers.view.diagram.boxes import (
    SMALL,
    Piece,
    as_svg,
    box,
    box_width,
    labelled,
    named,
    one_per_pair,
    said,
    short,
)
from helpers.view.diagram.folding import fold
from helpers.view.diagram.labels import spread
from helpers.view.diagram.layered_layout import Layout, layered
from helpers.view.diagram.pixel_positions import (
    BOX,
    MARGIN,
    STEP,
    Spot,
    arrow_down,
    spots_close,
    spots_down,
)
from helpers.view.diagram.reading_order import in_reading_order
from helpers.view.diagram.untangling import untangled
from helpers.view.diagram.wrapping import wrapped
from helpers.view.markup import joined, render
from helpers.view.picture import pictured

MOST_LINES = 100  # of the text form of a folded graph; what is beyond is counted
MOST_ARROWS = 1_000  # of one picture, and of the text form of a graph that is not folded
LONGEST_TEXT = 100_000  # characters of the text form
NUMBERED = "#1, #2: boxes of the same name"
SMALLEST = 0.88  # of its natural size, where letters have 10 pixels; a narrower window scrolls
ROW, NARROWEST_GAP, CLOSE, LOOP, WIDER = 54, 70, 40, 60, 50
MOST_COLUMNS = 12  # a deeper graph without a cycle leads downwards,
ROOM = 800  # pixels of boxes in one row of a picture that would be wider; bends come on top
WIDEST = 940  # and so does a wider one: beside its list of files, JupyterLab shows 830 pixels


def text(model: Graph) -> str:
    """Return the graph as one line per arrow, then the boxes that no arrow touches.

    A graph that is too large for one picture comes folded first, as in the picture.
    """
    model = row_limit.trimmed(model)
    shown, lines = fold(model), _lines(model)
    if shown is model:
        lines = _nested_lines(nested(model))
        return joined(model.title, *_first(lines, LONGEST_TEXT), model.note)
    whole = ("Arrow by arrow:", *_first(lines, LONGEST_TEXT, MOST_LINES))
    return joined(model.title, *_first(_lines(shown), LONGEST_TEXT), shown.note, *whole)


def _first(lines: list[str], room: int, most: int = MOST_ARROWS) -> list[str]:
    """Return lines that there is room for, and how many more there are."""
    fitting = min(row_limit.fold(list(map(len, lines[:most])), room).head, most)
    rest = len(lines) - fitting
    more = [f"… and {rest} more lines; the model has them all."] if rest > 0 else []
    return [*lines[:fitting], *more]


def _lines(model: Graph) -> list[str]:
    names = _names(model)
    touched = {end for edge in model.edges for end in (edge.source, edge.target)}
    found = [f"  found: {names[key]}" for key in model.found]
    arrows = [_arrow_line(edge, names) for edge in in_reading_order(model.edges)]
    alone = [f"  {names[node.key]}" for node in model.nodes if node.key not in touched]
    numbered = len({named(node) for node in model.nodes}) < len(model.nodes)
    return [*found, *arrows, *alone, *([f"  {NUMBERED}"] if numbered else [])]


def _nested_lines(nest: Nest, inset: str = "") -> list[str]:
    """Return the lines of a graph, then those of each of its bodies, further in."""
    lines = [inset + line for line in _lines(nest.graph)]
    callers = {node.key: node.label for node in nest.graph.nodes}
    for body in nest.bodies:
        lines.append(f"{inset}  {said(body.label)} of {said(callers[body.caller])}:")
        lines += _nested_lines(body.nest, f"{inset}    ")
    return lines


def html(model: Graph) -> str:
    """Return the picture as an image, and the text form folded below it."""
    if not model.nodes:
        return render("diagram.html", model=model, image="", legend="", body="nothing to draw")
    model = row_limit.trimmed(model)
    shown = fold(model)
    arrows = len(shown.edges)
    shown = replace(shown, edges=one_per_pair(shown.edges))
    rest = len(shown.edges) - MOST_ARROWS
    if rest > 0:
        said = f"{rest:,} arrows are not drawn, for want of room; the model has them all."
        note = joined(said, shown.note)
        shown = replace(shown, edges=shown.edges[:MOST_ARROWS], note=note)
    return render(
        "diagram.html",
        model=shown,
        alt=f"{alt(model.title, len(shown.nodes), arrows)}, listed below",
        body=text(model),
        legend=kinds.legend([node.kind for node in shown.nodes], bool(shown.found)),
        **pictured(svg(shown), SMALLEST),
    )


def alt(title: str, boxes: int, arrows: int) -> str:
    """Return what stands for a picture: its title, if it has one, and how much is in it."""
    words = f"{boxes} {'box' if boxes == 1 else 'boxes'}, {counted(arrows, 'arrow')}"
    return f"{title}: {words}" if title else words


def svg(model: Graph, page: bool = False, step: int = STEP) -> str:
    """Return the picture of a graph with at least one node as SVG text.

    `page`: it leads downwards and is as narrow as can be, with `step` pixels from row to row.
    """
    nest = nested(model)
    if nest.bodies and nesting.leads_down(nest):
        return nesting.svg(nest)
    model = replace(model, edges=one_per_pair(model.edges))
    layout, found = _laid_out(model), set(model.found)
    fans = Counter(edge.source for edge in model.edges)
    spots, wide = _spots_across(model, layout), _width_across(model, layout)
    close = page or wide > WIDEST
    down = (close or len(layout.layers) > MOST_COLUMNS) and not _has_cycle(layout)
    if down:
        across, layout = layout, _laid_out(model, bend=0.06)
        widths = _widths(model)
        spots = spots_close(layout, widths, step) if close else spots_down(layout, widths)
        if not page and wide <= _right(spots):
            down, layout, spots = False, across, _spots_across(model, across, CLOSE)
        elif close and _right(spots) > WIDEST:
            layout = _laid_out(model, 0.06, partial(wrapped, graph=model, widths=widths, room=ROOM))
            spots = spots_close(layout, widths, step)
    arrow = arrow_down if down else _arrow
    right = _right(spots)
    piece = Piece(
        right + (LOOP if _has_cycle(layout) else 0) + MARGIN,
        max(spot.y for spot in spots.values()) + BOX + MARGIN,
        tuple(box(node, spots[node.key], node.key in found) for node in model.nodes),
        spread(
            (
                labelled(edge, *arrow([spots[key] for key in path], fans[edge.source] > 1))
                for edge, path in zip(model.edges, layout.paths, strict=True)
            ),
            spots.values(),
        ),
    )
    return as_svg(model.title, piece, (node.kind for node in model.nodes))


def _laid_out(model: Graph, bend: float = 1, wrap=None) -> Layout:
    rooms, masks = {node.key: 1 for node in model.nodes}, (1,) * len(model.edges)
    return untangled(layered(model, bend, wrap), masks, rooms, bend=bend)


def _width_across(model: Graph, layout) -> int:
    return _right(_spots_across(model, layout))


def _right(spots: dict[object, Spot]) -> int:
    return max(spot.right for spot in spots.values())


def _spots_across(model: Graph, layout, narrowest: int = NARROWEST_GAP) -> dict[object, Spot]:
    spots, widths, left, gap = {}, _widths(model), MARGIN, _gap(model, narrowest)
    for column in layout.layers:
        width = max(widths.get(key, 0) for key in column)
        spots |= {key: Spot(left, _top(layout.rows[key]), width) for key in column}
        left += width + gap
    return spots


def _names(model: Graph) -> dict[str, str]:
    """Return a name per key that is unique in the text: label and detail, numbered if need be."""
    plain = {node.key: named(node) for node in model.nodes}
    often, seen, names = Counter(plain.values()), Counter(), {}
    for key, name in plain.items():
        seen[name] += 1
        names[key] = f"{name} #{seen[name]}" if often[name] > 1 else name
    return names


def _arrow_line(edge: Edge, names) -> str:
    shaft = f" ── {said(edge.label)} ──▶ " if edge.label else " ──▶ "
    return f"  {names[edge.source]}{shaft}{names[edge.target]}"


def _top(row: float) -> int:
    return round(MARGIN + row * ROW)


def _gap(model: Graph, narrowest: int) -> int:
    longest = max((len(short(edge.label)) for edge in model.edges), default=0)
    words = round(longest * SMALL) + 60 if longest else 0
    return max(narrowest, words) + (WIDER if model.wide else 0)


def _widths(model: Graph) -> dict[str, int]:
    return {node.key: box_width(node) for node in model.nodes}


def _has_cycle(layout) -> bool:
    layer = {key: number for number, keys in enumerate(layout.layers) for key in keys}
    return any(layer[path[0]] == layer[path[-1]] for path in layout.paths)


def _arrow(spots: list[Spot], fan: bool) -> tuple[str, int, int, int]:
    """Return the line through these spots from left to right, and the place of its label.

    A label stands where arrows lie apart: near the start, but for those of a `fan` near the end.
    """
    start, end = spots[0], spots[-1]
    if start.x == end.x:  # a cycle: out to the right and back
        x, y = start.right, (start.middle + end.middle) // 2
        lift = 10 if start == end else 0
        line = (
            f"M{x} {start.middle - lift} C{x + LOOP} {start.middle - lift},"
            f"{x + LOOP} {end.middle + lift},{x + 4} {end.middle + lift}"
        )
        return line, x + LOOP // 2, y, 0
    line = f"M{start.right} {start.middle}"
    for before, after in zip(spots, spots[1:], strict=False):
        half = (before.right + after.x) // 2
        tip = after.x - 4 if after is end else after.x
        line += f" C{half} {before.middle},{half} {after.middle},{tip} {after.middle}"
        line += "" if after is end else f" H{after.right}"
    return line, *_along(start, spots[1], 0.62 if fan else 0.3), start.right + 8


def _along(start: Spot, end: Spot, part: float) -> tuple[int, int]:
    """Return the point of the curve between two spots after this part of its length or so."""
    rise = 3 * part**2 - 2 * part**3  # both control points lie half-way, level with their ends
    run = 1.5 * part * (1 - part) + part**3
    x = start.right + (end.x - start.right) * run
    return round(x), round(start.middle + (end.middle - start.middle) * rise)
