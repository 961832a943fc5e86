"""A graph -> its picture: layers are placed, arrows drawn through them, labels put on the arrows.

It leads from left to right; a deep or wide graph without a cycle leads downwards where that is
narrower. A graph with bodies leads downwards too, and each body is drawn inside of its caller: its
parts that no arrow joins stand in columns, so that two branches fit beside each other, or below
each other where a page has no room.
"""

from collections import Counter
from collections.abc import Callable

from helpers.model.bodies import Body, Nest, nested
from helpers.model.graph import Graph
from helpers.view.diagram.labels import roomy, spread
from helpers.view.diagram.layered_layout import Layout, layered, straightened
from helpers.view.diagram.routing import LOOP, curve_across, curve_down
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
    one_per_pair,
    part_of,
    plate_width,
    short,
)
from helpers.view.picture import LETTER, SMALL, drawn_width

STEP, CLOSE = 92, 64  # pixels from row to row, and where no arrow has words
COLUMN, CLOSE_COLUMN, WIDER = 70, 40, 50  # pixels between two columns, at least
APART, BESIDE = 14, 22  # in a column: between two boxes, and beside an arrow that passes by
MOST_COLUMNS = 12  # a deeper graph without a cycle leads downwards,
WIDEST = 940  # and so does a wider one: beside its list of files, JupyterLab shows 830 pixels
ROOM = 800  # pixels of boxes in one row of a picture that would be wider; bends come on top
NEST_ROOM = 1_060  # pixels of all of a nest; what is inside of a box has less
HEAD, PAD = 48, 12  # of a caller: the height of its words, and the room around a body
TITLE = 26  # the height of a body's name


def svg(model: Graph, page: bool = False, step: int = STEP) -> str:
    """Return the picture of a graph with at least one node as SVG text.

    `page`: it leads downwards and is as narrow as can be, with `step` pixels from row to row.
    """
    nest = nested(model)
    if nest.bodies and leads_down(nest):
        piece = _in_parts(nest, NEST_ROOM)
    else:
        piece = _flat(model, page, step)
    return as_svg(model.title, piece, (node.kind for node in model.nodes))


def leads_down(nest: Nest) -> bool:
    """Return whether no level of the graph has a cycle."""
    import networkx

    ends = [(edge.source, edge.target) for edge in nest.graph.edges]
    straight = networkx.is_directed_acyclic_graph(networkx.DiGraph(ends))
    return straight and all(leads_down(body.nest) for body in nest.bodies)


def spots_across(layout: Layout, widths, gap: int, heights=None) -> Callable:
    """Return what gives a spot per key of a picture that leads from left to right.

    `gap`: pixels between columns; it takes how many more follow which of them, by number.
    """
    heights = heights or dict.fromkeys(widths, BOX)
    middles = straightened(layout, heights, APART, BESIDE)

    def spots(more=None) -> dict[object, Spot]:
        found, left = {}, MARGIN
        for number, column in enumerate(layout.layers):
            width = max(widths.get(key, 0) for key in column)
            for key in column:
                high = heights.get(key, 0)
                found[key] = Spot(left, round(middles[key] - high / 2), width, high)
            left += width + gap + (more or {}).get(number, 0)
        return _from_the_top(found)

    return spots


def spots_down(layout: Layout, widths, step: int, heights=None) -> Callable:
    """Return what gives a spot per key of a picture that leads downwards, `step` from row to row.

    A row with a box that is higher than others is as much higher, and so is what passes it by.
    """
    centres = straightened(layout, widths)

    def spots(more=None) -> dict[object, Spot]:
        found, top = {}, MARGIN
        for number, row in enumerate(layout.layers):
            high = max((heights or {}).get(key, BOX) for key in row)
            for key in row:
                own = (heights or {}).get(key, BOX) if key in widths else high
                width = widths.get(key, 0)
                found[key] = Spot(round(centres[key] - width / 2), top, width, own)
            top += step + high - BOX + (more or {}).get(number, 0)
        return _from_the_top(found)

    return spots


def _from_the_top(spots: dict[object, Spot]) -> dict[object, Spot]:
    """Return the spots moved to the upper left, a margin from either edge."""
    left, top = min(s.x for s in spots.values()), min(s.y for s in spots.values())
    return {
        key: Spot(s.x - left + MARGIN, s.y - top + MARGIN, s.width, s.height)
        for key, s in spots.items()
    }


# -- one level -------------------------------------------------------------------------------------


def _flat(model: Graph, page: bool, step: int) -> Piece:
    """Return the drawing of a graph that leads across, or down where that is narrower."""
    graph = _merged(model)
    layout, widths = layered(graph), {node.key: box_width(node) for node in graph.nodes}
    longest = max((drawn_width(short(edge.label), SMALL) for edge in graph.edges), default=0)
    words = (longest + 60 if longest else 0) + (WIDER if graph.wide else 0)
    across = spots_across(layout, widths, max(COLUMN, words))
    wide = _reach(across())
    close = page or wide > WIDEST
    if not layout.has_cycle and (close or len(layout.layers) > MOST_COLUMNS):
        down = spots_down(layout, widths, step)
        if page or wide > _reach(down()):
            if close and _reach(down()) > WIDEST:
                layout = layered(graph, widths=widths, room=ROOM)
                down = spots_down(layout, widths, step)
            return _drawn(graph, layout, down, True)
        across = spots_across(layout, widths, max(CLOSE_COLUMN, words))
    return _drawn(graph, layout, across, False)


def _merged(model: Graph) -> Graph:
    edges = one_per_pair(model.edges)
    return Graph(model.title, model.nodes, edges, found=model.found, wide=model.wide)


def _reach(spots: dict[object, Spot]) -> int:
    return max(spot.right for spot in spots.values())


def _drawn(graph: Graph, layout: Layout, place, down: bool, inner=None) -> Piece:
    """Return a drawing of one level: `place(more)` gives its spots; `inner`: key -> a piece."""
    fans, curve = Counter(edge.source for edge in graph.edges), curve_down if down else curve_across

    def at(more):
        spots = place(more)
        arrows = [
            labelled(
                edge.label,
                *curve([spots[k] for k in path], fans[edge.source] > 1, plate_width(edge.label)),
            )
            for edge, path in zip(graph.edges, layout.paths, strict=True)
        ]
        right, bottom = far_ends(spots.values())
        boxes, frames, pieces = [], [], []
        for node in graph.nodes:
            spot, piece = spots[node.key], (inner or {}).get(node.key)
            drawn = box(node, spot, node.key in graph.found)
            boxes.append({**drawn, "kind": "caller"} if piece else drawn)
            if piece:
                frames.append({"kind": node.kind, "spot": spot, "title": ""})
                pieces.append((spot.centre - piece.width // 2, spot.y + HEAD, piece))
        right += LOOP if layout.has_cycle else 0
        labels = spread(arrows, spots.values())
        return Piece(right, bottom, tuple(boxes), labels, tuple(frames), tuple(pieces)), spots

    return roomy(at, layout.layers, down)


# -- bodies in their callers -----------------------------------------------------------------------


def _in_parts(nest: Nest, room: int) -> Piece:
    """Return one level of a nest: its parts in columns, or as words flow where that is too wide."""
    parts = [_part(part, nest, room) for part in _parts(nest.graph)]
    highest = max((part.height for part in parts), default=0) + CLOSE
    columns = _gathered(parts, lambda part: part.height - MARGIN, highest)
    together = _together([_together(column, down=True) for column in columns])
    if together.width <= room:
        return together
    rows = _gathered(parts, lambda part: part.width, room)
    return _together([_together(row) for row in rows], down=True)


def _gathered(parts: list[Piece], size: Callable[[Piece], int], room: int) -> list[list[Piece]]:
    """Return the parts in groups, each as large as there is room."""
    groups = [[]]
    for part in parts:
        if groups[-1] and sum(map(size, (*groups[-1], part))) > room:
            groups.append([])
        groups[-1].append(part)
    return groups


def _parts(graph: Graph) -> list[Graph]:
    """Return the parts of a graph that no arrow joins, those with the most boxes first."""
    import networkx

    joined = networkx.Graph()
    joined.add_nodes_from(node.key for node in graph.nodes)
    joined.add_edges_from((edge.source, edge.target) for edge in graph.edges)
    found = sorted(networkx.connected_components(joined), key=len, reverse=True)
    return [part_of(graph, keys) for keys in found]


def _part(graph: Graph, nest: Nest, room: int) -> Piece:
    """Return one part of a nest's graph, each caller as high and wide as its bodies need."""
    graph = _merged(graph)
    inner = {n.key: _inner(nest.called_by(n.key), room - 2 * (PAD + MARGIN)) for n in graph.nodes}
    inner = {key: piece for key, piece in inner.items() if piece}
    widths = {node.key: box_width(node) for node in graph.nodes}
    widths |= {key: max(widths[key], piece.width + 2 * PAD) for key, piece in inner.items()}
    heights = {key: HEAD + piece.height + PAD for key, piece in inner.items()}
    layout = layered(graph, widths=widths, room=room)
    step = STEP if any(edge.label for edge in graph.edges) else CLOSE
    return _drawn(graph, layout, spots_down(layout, widths, step, heights), True, inner)


def _inner(bodies: tuple[Body, ...], room: int) -> Piece | None:
    """Return the bodies of one caller, each in a frame under its name; None if there are none."""
    pieces = [_framed(short(body.label), _in_parts(body.nest, room)) for body in bodies]
    if not pieces:
        return None
    together = _together(pieces, PAD)
    return together if together.width <= room else _together(pieces, PAD, down=True)


def _framed(title: str, piece: Piece) -> Piece:
    width = max(piece.width, drawn_width(title, LETTER) + 24)
    frame = {"kind": "", "spot": Spot(0, 0, width, TITLE + piece.height), "title": title}
    inner = ((width - piece.width) // 2, TITLE, piece)
    return Piece(width, TITLE + piece.height, frames=(frame,), inner=(inner,))


def _together(pieces: list[Piece], gap: int = 0, down: bool = False) -> Piece:
    """Return pieces beside each other, or below each other."""
    at, placed = 0, []
    for piece in pieces:
        placed.append((0, at, piece) if down else (at, 0, piece))
        at += (piece.height if down else piece.width) + gap
    wide = at - gap if not down else max((piece.width for piece in pieces), default=0)
    high = at - gap if down else max((piece.height for piece in pieces), default=0)
    return Piece(wide, high, inner=tuple(placed))
