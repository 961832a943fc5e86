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
    Piece,
    as_svg,
    box,
    labelled,
    named,
    one_per_pair,
    plate_width,
    said,
)
from helpers.view.diagram.directions import LOOP, Plan, planned
from helpers.view.diagram.folding import fold
from helpers.view.diagram.labels import roomy, spread
from helpers.view.diagram.pixel_positions import MARGIN, STEP, arrow_down
from helpers.view.diagram.reading_order import in_reading_order
from helpers.view.markup import joined, render
from helpers.view.picture import pictured

MOST_LINES = 100  # of the text form of a folded graph; what is beyond is counted
MOST_ARROWS = 1_000  # of one picture, and of the text form of a graph that is not folded
LONGEST_TEXT = 100_000  # characters of the text form
NUMBERED = "#1, #2: boxes of the same name"
SMALLEST = 0.88  # of its natural size, where letters have 10 pixels; a narrower window scrolls


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
    plan = planned(model, page, step)
    return as_svg(
        model.title,
        roomy(partial(_drawn, model, plan), plan.layout.layers),
        (n.kind for n in model.nodes),
    )


def _drawn(model: Graph, plan: Plan, more: dict[int, int]):
    """Return the drawing, the places in it, and whether it leads down; `more`: see `roomy`."""
    spots, found = plan.spots(more), set(model.found)
    fans = Counter(edge.source for edge in model.edges)
    arrows = [
        labelled(
            edge,
            *plan.arrow(
                [spots[key] for key in path], fans[edge.source] > 1, plate_width(edge.label)
            ),
        )
        for edge, path in zip(model.edges, plan.layout.paths, strict=True)
    ]
    piece = Piece(
        max(spot.right for spot in spots.values()) + (LOOP if plan.cycle else 0) + MARGIN,
        max(spot.bottom for spot in spots.values()) + MARGIN,
        tuple(box(node, spots[node.key], node.key in found) for node in model.nodes),
        spread(arrows, spots.values()),
    )
    return piece, spots, plan.arrow is arrow_down


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
