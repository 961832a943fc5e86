"""A graph -> its picture: layers are placed, arrows drawn through them, labels put on."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from ...model.graphs import Body, Graph, Nest, nested
from .. import diagram
from ..ink import LETTER, SMALL, SMALLEST, drawn_width
from .arrows import (
    BESIDE_LOOP,
    LEAD,
    LIFT,
    TIP,
    curve_across,
    curve_down,
    draw_roomy,
    place_labels,
)
from .layered_layout import Layout, assign_coordinates, make_layers

STEP, CLOSE = 100, 64  # pixels from row to row, and where no arrow has words
COLUMN, CLOSE_COLUMN, WIDER = 70, 40, 50  # pixels between two columns, at least
APART, BESIDE = 14, 22  # in a column: between two boxes, and beside an arrow that passes by
TIGHT = 7, 8  # the same in a row that is too wide
MOST_COLUMNS = 12  # a deeper graph without a cycle leads downwards,
WIDEST = 940  # and so does a wider one: beside its list of files, JupyterLab shows 830 pixels
HEAD, PAD = 48, 12  # of a caller: the height of its words, and the room around a body
ARRIVAL = 12  # pixels between the heads of arrows at a box to which many names lead
TITLE = 26  # the height of a body's name
FITS, ROW, INSET = 828, 46, 30  # pixels: JupyterLab's page; of a tree, its rows and arrows


def draw_graph(model: Graph, page: bool = False) -> str:
    """Return a graph as SVG text; a `page` leads downwards and is as narrow as can be."""
    nest = nested(model)
    if nest.bodies and leads_down(nest):
        piece = _draw_nest(nest)
    else:
        piece = _draw_flat(replace(model, edges=diagram.one_per_pair(model.edges)), page)
    return diagram.as_svg(model.title, piece, (node.kind for node in model.nodes))


def leads_down(nest: Nest) -> bool:
    """Return whether no level of the graph has a cycle."""
    import networkx

    ends = [(edge.source, edge.target) for edge in nest.graph.edges]
    straight = networkx.is_directed_acyclic_graph(networkx.DiGraph(ends))
    return straight and all(leads_down(body.nest) for body in nest.bodies)


def place_layers(layout: Layout, widths, gap: int, down: bool, heights=None, room=None, more=()):
    """Return what gives a spot per key; `gap`: pixels between layers, and to some it adds `more`.

    `room`: pixels between two boxes of a layer, and beside a bend. A layer that leads down is as
    high as its highest box; across, its boxes are of one width.
    """
    heights = dict.fromkeys(widths, diagram.BOX) | (heights or {})
    along, beside = (heights, widths) if down else (widths, heights)
    centres = assign_coordinates(layout, beside, *(room or (() if down else (APART, BESIDE))))

    always = Counter(more)

    def place(more=None) -> dict[object, diagram.Spot]:
        spots, at, gaps = {}, 0, always + Counter(more)
        for number, keys in enumerate(layout.layers):
            whole = max(along.get(key, 0) for key in keys)
            for key in keys:
                side = beside.get(key, 0)
                start, deep = round(centres[key] - side / 2), along.get(key, whole)
                spots[key] = (start, at, side, deep) if down else (at, start, whole, side)
            at += whole + gap + gaps[number]
        left, top = (diagram.MARGIN - min(spot[axis] for spot in spots.values()) for axis in (0, 1))
        return {key: diagram.Spot(x + left, y + top, *size) for key, (x, y, *size) in spots.items()}

    return place


def _draw_flat(graph: Graph, page: bool) -> diagram.Piece:
    widths = {node.key: diagram.box_width(node) for node in graph.nodes}
    if not page and (piece := _draw_names(graph, widths)):
        return piece
    layout = make_layers(graph)
    longest = max(
        (drawn_width(diagram.short(edge.label), SMALL) for edge in graph.edges), default=0
    )
    rooms = _label_rooms(graph, layout)
    across = place_layers(layout, widths, COLUMN, False, more=rooms)
    wide = _reach(across)
    if wide > FITS and not longest and (tree := _draw_tree(graph, widths)):
        return tree
    if not layout.has_cycle and (page or wide > WIDEST or len(layout.layers) > MOST_COLUMNS):
        down = place_layers(layout, widths, STEP - diagram.BOX, True)
        if _reach(down) * SMALLEST > FITS - diagram.MARGIN:
            down = place_layers(layout, widths, STEP - diagram.BOX, True, room=TIGHT)
        if page or wide > _reach(down):
            return _draw_level(graph, layout, down, True)
        across = place_layers(layout, widths, CLOSE_COLUMN, False, more=rooms)
    return _draw_level(graph, layout, across, False)


def _draw_names(graph: Graph, widths: dict) -> diagram.Piece | None:
    """Return a map of names, what they end at in one column; None if it is none, or too wide."""
    roots = {node.key for node in graph.nodes} - {edge.target for edge in graph.edges}
    if not roots or any(graph.node(key).kind != "name" for key in roots):
        return None
    layout, rooms = make_layers(graph, ends_last=True), {}
    if layout.has_cycle:
        return None
    layers = {key: number for number, keys in enumerate(layout.layers) for key in keys}
    fans = Counter(edge.source for edge in graph.edges)
    for edge in graph.edges:
        at, near = layers[edge.source], layers[edge.target] - layers[edge.source] == 1
        if near or fans[edge.source] == 1:
            rooms[at] = max(rooms.get(at, 0), diagram.plate_width(edge.label) + LEAD)
    into = Counter(edge.target for edge in graph.edges)
    heights = {key: max(diagram.BOX, ARRIVAL * (into[key] + 1)) for key in widths}
    roomy = place_layers(layout, widths, CLOSE_COLUMN, False, heights, more=rooms)
    fits = _reach(roomy) * SMALLEST <= FITS - diagram.MARGIN
    return _draw_level(graph, layout, roomy, False, beside=True) if fits else None


def _label_rooms(graph: Graph, layout: Layout) -> dict[int, int]:
    """Return how much farther apart some columns are, in pixels, for the labels between them."""
    fans, rooms = Counter(edge.source for edge in graph.edges), {}
    column = {key: at for at, keys in enumerate(layout.layers) for key in keys}
    for edge in graph.edges:
        at, loop = column[edge.source], column[edge.source] == column[edge.target]
        if fans[edge.source] > 1 and not loop:  # its label is before the end
            at = column[edge.target] - 1
        room = diagram.plate_width(edge.label) + BESIDE_LOOP * loop + WIDER * graph.wide
        rooms[at] = max(rooms.get(at, 0), room)
    return rooms


def _draw_tree(graph: Graph, widths: dict) -> diagram.Piece | None:
    """Return a tree with each box beside its parent, all as wide as they need; None if no tree."""
    import networkx

    tree = networkx.DiGraph([(edge.source, edge.target) for edge in graph.edges])
    if not len(tree) == len(graph.nodes) > 1 or not networkx.is_arborescence(tree):
        return None
    spots, row = {}, diagram.MARGIN
    for key in networkx.dfs_preorder_nodes(tree):
        parent = next((spots[one] for one in tree.predecessors(key)), None)
        row += ROW * (parent is not None and parent is not list(spots.values())[-1])
        left = parent.right + INSET if parent else diagram.MARGIN
        spots[key] = diagram.Spot(left, row, widths[key])
    arrows = []
    for edge in graph.edges:
        parent, child = spots[edge.source], spots[edge.target]
        bend = f"H{parent.right + INSET // 2} V{child.middle} H{child.x - TIP}"
        line = f"M{parent.right} {parent.middle} {bend}"
        arrows.append(diagram.labelled(edge.label, line, child.x - INSET // 2, child.middle))
    boxes = [diagram.box(node, spots[node.key], node.key in graph.found) for node in graph.nodes]
    return diagram.Piece(*diagram.far_ends(spots.values()), tuple(boxes), tuple(arrows))


def _reach(place: Callable) -> int:
    return max(spot.right for spot in place().values())


def _draw_level(graph, layout: Layout, place, down: bool, inner=None, beside=False):
    """Return a piece: one level, its spots by `place(more)`; `inner`: key -> a piece.

    `beside`: labels are above their arrows.
    """
    fans, curve = Counter(edge.source for edge in graph.edges), curve_down if down else curve_across
    inner, kinds = inner or {}, {node.key: node.kind for node in graph.nodes}

    def draw(more):
        spots = place(more)
        ends = _arrivals(layout, spots, beside)
        arrows, boxes, frames, pieces = [], [], [], []
        for edge, path in zip(graph.edges, layout.paths, strict=True):
            fan, plate = fans[edge.source] > 1, diagram.plate_width(edge.label)
            on = [*(spots[key] for key in path[:-1]), ends[path[-2:]]]
            line = curve(on, fan, plate)
            if beside and fan and len(on) > 2:  # on the level piece of its first bend
                line = curve(on)[0], on[1].centre, on[1].middle
            arrows.append(diagram.labelled(edge.label, *line))
            words = {edge.label.partition(" ")[0], kinds[edge.source], kinds[edge.target]}
            arrows[-1]["fate"] = next((word for word in ("gone", "new") if word in words), "")
        for node in graph.nodes:
            spot = spots[node.key]
            boxes.append(diagram.box(node, spot, node.key in graph.found))
            boxes[-1]["base"] += (spot.height - diagram.BOX) // 2 if beside else 0
            if piece := inner.get(node.key):
                boxes[-1]["kind"] = "caller"
                frames.append({"kind": node.kind, "spot": spot, "title": ""})
                pieces.append((spot.centre - piece.width // 2, spot.y + HEAD, piece))
        arrows = place_labels(arrows, spots.values(), LIFT * beside)
        drawn = boxes, arrows, frames, pieces
        return diagram.Piece(*diagram.far_ends(spots.values(), arrows), *map(tuple, drawn)), spots

    return draw_roomy(draw, layout.layers, down)


def _arrivals(layout: Layout, spots: dict, apart: bool) -> dict[tuple, diagram.Spot]:
    """Return where an arrow ends, by its last two keys; `apart`: no two at one place of a box."""
    ends = {path[-2:]: spots[path[-1]] for path in layout.paths}
    into = {}
    for last, key in sorted(ends, key=lambda pair: spots[pair[0]].middle) if apart else ():
        into.setdefault(key, []).append(last)
    for key, lasts in into.items():
        for number, last in enumerate(lasts):
            lift = round(ARRIVAL * (number - (len(lasts) - 1) / 2))
            ends[last, key] = spots[key]._replace(y=spots[key].y + lift)
    return ends


def _draw_nest(nest: Nest) -> diagram.Piece:
    """Return one level of a nest: what a box calls is inside it."""
    graph = replace(nest.graph, edges=diagram.one_per_pair(nest.graph.edges))
    widths, heights, inner = {}, {}, {}
    for node in graph.nodes:
        widths[node.key] = diagram.box_width(node)
        if bodies := nest.called_by(node.key):
            drawn, pieces, at = [_draw_body(body) for body in bodies], [], 0
            below = sum(piece.width + PAD for piece in drawn) > WIDEST - 2 * PAD
            for piece in drawn:  # beside each other, or below where they do not fit
                pieces.append((0, at, piece) if below else (at, 0, piece))
                at += (piece.height if below else piece.width) + PAD
            most = max(piece.width if below else piece.height for piece in drawn)
            size = (most, at - PAD) if below else (at - PAD, most)
            piece = inner[node.key] = diagram.Piece(*size, inner=tuple(pieces))
            widths[node.key] = max(widths[node.key], piece.width + 2 * PAD)
            heights[node.key] = HEAD + piece.height + PAD
    layout = make_layers(graph)
    step = STEP if any(edge.label for edge in graph.edges) else CLOSE
    place = place_layers(layout, widths, step - diagram.BOX, True, heights)
    return _draw_level(graph, layout, place, True, inner)


def _draw_body(body: Body) -> diagram.Piece:
    title, piece = diagram.short(body.label), _draw_nest(body.nest)
    width, height = max(piece.width, drawn_width(title, LETTER) + 24), TITLE + piece.height
    frame = {"kind": "", "spot": diagram.Spot(0, 0, width, height), "title": title}
    inner = ((width - piece.width) // 2, TITLE, piece)
    return diagram.Piece(width, height, frames=(frame,), inner=(inner,))
