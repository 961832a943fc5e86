"""A graph with bodies -> a picture of boxes in boxes: each body is drawn inside of its caller.

A body's parts that no arrow joins stand in columns, so that two branches fit beside each other;
where a page has no room for them beside each other, they stand below each other.
"""

from collections import Counter
from dataclasses import replace
from functools import partial

from helpers.model.bodies import Body, Nest
from helpers.model.graph import Graph, Node
from helpers.view.diagram.boxes import (
    CHARACTER,
    Piece,
    as_svg,
    box,
    box_width,
    labelled,
    one_per_pair,
    short,
)
from helpers.view.diagram.labels import roomy, spread
from helpers.view.diagram.layered_layout import Layout, layered
from helpers.view.diagram.pixel_positions import MARGIN, STEP, Spot, arrow_down, places_down
from helpers.view.diagram.untangling import untangled
from helpers.view.diagram.wrapping import wrapped

CLOSE = 64  # from row to row where no arrow has words
HEAD, PAD = 48, 12  # of a caller: the height of its words, and the room around a body
TITLE = 26  # the height of a body's name
ROOM = 1_060  # pixels of all; what is inside of a box has less
BEND = 0.06


def svg(nest: Nest) -> str:
    """Return the picture of a graph without a cycle, which leads downwards, as SVG text."""
    return as_svg(nest.graph.title, _piece(nest, ROOM), kinds_of(nest))


def leads_down(nest: Nest) -> bool:
    """Return whether no level of the graph has a cycle."""
    import networkx

    ends = [(edge.source, edge.target) for edge in nest.graph.edges]
    straight = networkx.is_directed_acyclic_graph(networkx.DiGraph(ends))
    return straight and all(leads_down(body.nest) for body in nest.bodies)


def kinds_of(nest: Nest) -> list[str]:
    """Return the kinds of all boxes, the outer ones first."""
    return [node.kind for node in nest.graph.nodes] + [
        kind for body in nest.bodies for kind in kinds_of(body.nest)
    ]


def _piece(nest: Nest, room: int) -> Piece:
    parts = [_drawn(part, nest, room) for part in _parts(nest.graph)]
    columns, most = [[]], max((part.height for part in parts), default=0) + CLOSE
    for part in parts:
        if columns[-1] and sum(p.height - MARGIN for p in (*columns[-1], part)) > most:
            columns.append([])
        columns[-1].append(part)
    together = _beside([_below(column) for column in columns])
    return together if together.width <= room else _flowing(parts, room)


def _flowing(parts: list[Piece], room: int) -> Piece:
    """Return the parts as words flow: beside each other while there is room, then below."""
    rows = [[]]
    for part in parts:
        if rows[-1] and sum(each.width for each in (*rows[-1], part)) > room:
            rows.append([])
        rows[-1].append(part)
    return _below([_beside(row) for row in rows])


def _parts(graph: Graph) -> list[Graph]:
    """Return the parts of a graph that no arrow joins, those with the most boxes first."""
    import networkx

    joined = networkx.Graph()
    joined.add_nodes_from(node.key for node in graph.nodes)
    joined.add_edges_from((edge.source, edge.target) for edge in graph.edges)
    found = sorted(networkx.connected_components(joined), key=len, reverse=True)
    return [
        replace(
            graph,
            nodes=tuple(node for node in graph.nodes if node.key in keys),
            edges=tuple(edge for edge in graph.edges if edge.source in keys),
        )
        for keys in found
    ]


def _drawn(graph: Graph, nest: Nest, room: int) -> Piece:
    """Return one part of a nest's graph, each caller as high and wide as its bodies need."""
    graph = replace(graph, edges=one_per_pair(graph.edges))
    less = room - 2 * (PAD + MARGIN)
    inner = {node.key: _inner(nest.called_by(node.key), less) for node in graph.nodes}
    widths = {node.key: _width(node, inner[node.key]) for node in graph.nodes}
    heights = {key: HEAD + piece.height + PAD for key, piece in inner.items() if piece}
    layout = layered(graph, BEND, partial(wrapped, graph=graph, widths=widths, room=room))
    layout = untangled(layout, (1,) * len(graph.edges), dict.fromkeys(widths, 1), bend=BEND)
    step = STEP if any(edge.label for edge in graph.edges) else CLOSE
    place = partial(places_down(layout, widths), heights=heights)
    return roomy(lambda more: _at(graph, layout, place(step, more), inner), layout.layers)


def _at(graph: Graph, layout: Layout, spots, inner):
    """Return the drawing of a part whose boxes have these places, what `labels.roomy` asks for."""
    found, fans = set(graph.found), Counter(edge.source for edge in graph.edges)
    arrows = (
        labelled(edge, *arrow_down([spots[key] for key in path], fans[edge.source] > 1))
        for edge, path in zip(graph.edges, layout.paths, strict=True)
    )
    boxes, frames, pieces = [], [], []
    for node in graph.nodes:
        spot, piece = spots[node.key], inner[node.key]
        drawn = box(node, spot, node.key in found)
        boxes.append({**drawn, "kind": "caller"} if piece else drawn)
        if piece:
            frames.append({"kind": node.kind, "spot": spot, "title": ""})
            pieces.append((spot.centre - piece.width // 2, spot.y + HEAD, piece))
    right = max(spot.right for spot in spots.values()) + MARGIN
    bottom = max(spot.bottom for spot in spots.values()) + MARGIN
    arrows = spread(arrows, spots.values())
    drawn = Piece(right, bottom, tuple(boxes), arrows, tuple(frames), tuple(pieces))
    return drawn, spots, True


def _width(node: Node, inner: Piece | None) -> int:
    return max(box_width(node), inner.width + 2 * PAD) if inner else box_width(node)


def _inner(bodies: tuple[Body, ...], room: int) -> Piece | None:
    """Return the bodies of one caller, each in a frame under its name; None if there are none."""
    pieces = [_framed(body.label, _piece(body.nest, room)) for body in bodies]
    if not pieces:
        return None
    together = _beside(pieces, PAD)
    return together if together.width <= room else _below(pieces, PAD)


def _framed(title: str, piece: Piece) -> Piece:
    title = short(title)
    width, height = max(piece.width, round(len(title) * CHARACTER) + 24), TITLE + piece.height
    frame = {"kind": "", "spot": Spot(0, 0, width, height), "title": title}
    left = (width - piece.width) // 2
    return Piece(width, height, frames=(frame,), inner=((left, TITLE, piece),))


def _beside(pieces: list[Piece], gap: int = 0) -> Piece:
    left, placed = 0, []
    for piece in pieces:
        placed.append((left, 0, piece))
        left += piece.width + gap
    high = max((piece.height for piece in pieces), default=0)
    return Piece(left - gap, high, inner=tuple(placed))


def _below(pieces: list[Piece], gap: int = 0) -> Piece:
    top, placed = 0, []
    for piece in pieces:
        placed.append((0, top, piece))
        top += piece.height + gap
    wide = max((piece.width for piece in pieces), default=0)
    return Piece(wide, top - gap, inner=tuple(placed))
