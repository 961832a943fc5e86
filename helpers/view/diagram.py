"""A graph -> a picture with a text equivalent: boxes and labelled arrows, left to right.

The picture is an SVG inside an image, because that is what JupyterLab shows of an untrusted
notebook. An image cannot see the page's theme, so every text stands on a plate of its own and the
arrows are of a grey that is seen on light and on dark.
"""

import base64
from collections import Counter
from dataclasses import dataclass, replace

from helpers.model.graph import Edge, Graph, Node
from helpers.view.ink import one_line, render
from helpers.view.layout import layered

MOST_NODES = 60
SMALLEST = 0.65  # of its natural size; a narrower window scrolls
LONGEST_LABEL = 52
CHARACTER, SMALL = 7.9, 6.7  # width of a letter at 13 and at 11 pixels
ROW, BOX, NARROWEST_GAP, LOOP, MARGIN = 54, 40, 70, 60, 8


def text(model: Graph) -> str:
    """Return the graph as one line per arrow, then the boxes that no arrow touches."""
    names = _names(model)
    touched = {end for edge in model.edges for end in (edge.source, edge.target)}
    arrows = [_arrow_line(edge, names) for edge in model.edges]
    alone = [names[node.key] for node in model.nodes if node.key not in touched]
    return "\n".join(part for part in (model.title, *arrows, *alone, model.note) if part)


def html(model: Graph) -> str:
    """Return the picture as an image, and the text form folded below it."""
    if not model.nodes:
        return render("diagram.html", model=model, image="", body="nothing to draw")
    shown = fold(model)
    picture = svg(shown)
    width = int(picture.partition('width="')[2].partition('"')[0])
    return render(
        "diagram.html",
        model=shown,
        image=f"data:image/svg+xml;base64,{base64.b64encode(picture.encode()).decode()}",
        alt=f"{model.title}: {len(shown.nodes)} boxes, {len(shown.edges)} arrows, listed below",
        least=round(SMALLEST * width),
        body=text(model),
    )


def svg(model: Graph) -> str:
    """Return the picture of a graph with at least one node as SVG text."""
    model = replace(model, edges=_joined(model.edges))
    layout, spots = layered(model), {}
    fans = Counter(edge.source for edge in model.edges)
    boxes, left, gap = {node.key: node for node in model.nodes}, MARGIN, _gap(model)
    for column in layout.layers:
        width = max(_width(boxes.get(key)) for key in column)
        spots |= {key: Spot(left, _top(layout.rows[key]), width) for key in column}
        left += width + gap
    return render(
        "diagram.svg",
        title=model.title,
        width=left - gap + (LOOP if _bends_back(layout, spots) else 0) + MARGIN,
        height=max(spot.y for spot in spots.values()) + BOX + MARGIN,
        box=BOX,
        boxes=[_box(node, spots[node.key]) for node in model.nodes],
        arrows=[
            _arrow(edge, [spots[key] for key in path], fans[edge.source])
            for edge, path in zip(model.edges, layout.paths, strict=True)
        ],
    )


def fold(model: Graph, most: int = MOST_NODES) -> Graph:
    """Return the graph with its largest groups folded to one box each, until `most` boxes or fewer.

    What was folded is said in the note; what has no group and still is too much is left out last.
    """
    sizes = Counter(node.group for node in model.nodes if node.group)
    folded, left = [], len(model.nodes)
    for group, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        if left > most and size > 1:
            folded.append(group)
            left -= size - 1
    if not folded and left <= most:
        return model
    return _folded(model, folded, sizes, most)


def _folded(model: Graph, folded, sizes, most: int) -> Graph:
    home = {n.key: f"group {n.group}" if n.group in folded else n.key for n in model.nodes}
    nodes = {}
    for node in model.nodes:
        group = Node(home[node.key], node.group, "group", f"{sizes[node.group]} boxes, folded")
        nodes.setdefault(home[node.key], group if node.group in folded else node)
    kept = dict(list(nodes.items())[:most])
    ends = {(home[e.source], home[e.target], e.label): None for e in model.edges}
    edges = [Edge(*end) for end in ends if end[0] in kept and end[1] in kept and end[0] != end[1]]
    said = [f"{len(model.nodes)} boxes are too many to read in one picture."]
    said += [f"Folded: {', '.join(folded)}."] if folded else []
    said += [f"Left out: the last {len(nodes) - most}."] if len(nodes) > most else []
    note = " ".join([*said, "The text below has them all.", model.note]).strip()
    return Graph(model.title, tuple(kept.values()), tuple(edges), note)


def _names(model: Graph) -> dict[str, str]:
    """Return a name per key that is unique in the text: label and detail, numbered if need be."""
    plain = {
        n.key: one_line(f"{n.label} ({n.detail})" if n.detail else n.label) for n in model.nodes
    }
    often, seen, names = Counter(plain.values()), Counter(), {}
    for key, name in plain.items():
        seen[name] += 1
        names[key] = f"{name} #{seen[name]}" if often[name] > 1 else name
    return names


def _arrow_line(edge: Edge, names) -> str:
    shaft = f" ── {one_line(edge.label)} ──▶ " if edge.label else " ──▶ "
    return f"  {names[edge.source]}{shaft}{names[edge.target]}"


@dataclass(frozen=True)
class Spot:
    """The place of a box or a bend: its left, top and width in pixels."""

    x: int
    y: int
    width: int

    @property
    def middle(self) -> int:
        """The height at which arrows leave and arrive."""
        return self.y + BOX // 2

    @property
    def right(self) -> int:
        """The right edge."""
        return self.x + self.width


def _top(row: float) -> int:
    return round(MARGIN + row * ROW)


def _gap(model: Graph) -> int:
    longest = max((len(_short(edge.label)) for edge in model.edges), default=0)
    return max(NARROWEST_GAP, round(longest * SMALL) + 60)


def _width(node: Node | None) -> int:
    if node is None:
        return 0
    wide = max(len(_short(node.label)) * CHARACTER, len(_short(node.detail)) * SMALL)
    return round(max(wide, 24) + 24)


def _short(words: str, most: int = LONGEST_LABEL) -> str:
    """Return words cut in the middle, where a dotted path says least."""
    words = one_line(words)
    half = (most - 1) // 2
    return words if len(words) <= most else f"{words[:half]}…{words[-half:]}"


def _box(node: Node, spot: Spot) -> dict:
    return {
        "kind": node.kind,
        "spot": spot,
        "centre": spot.x + spot.width // 2,
        "label": _short(node.label),
        "detail": _short(node.detail),
        "base": spot.y + (17 if node.detail else 25),
    }


def _bends_back(layout, spots) -> bool:
    return any(spots[path[0]].x == spots[path[-1]].x for path in layout.paths)


def _joined(edges) -> tuple[Edge, ...]:
    """Return one arrow per pair of boxes, with the labels of all that lead the same way."""
    labels = {}
    for edge in edges:
        labels.setdefault((edge.source, edge.target), []).append(edge.label)
    return tuple(Edge(*ends, ", ".join(filter(None, said))) for ends, said in labels.items())


def _arrow(edge: Edge, spots: list[Spot], fan: int) -> dict:
    start, end = spots[0], spots[-1]
    label = _short(edge.label)
    if start.x == end.x:  # a cycle: out to the right and back
        x, y = start.right, (start.middle + end.middle) // 2
        lift = 10 if start == end else 0
        line = (
            f"M{x} {start.middle - lift} C{x + LOOP} {start.middle - lift},"
            f"{x + LOOP} {end.middle + lift},{x + 4} {end.middle + lift}"
        )
        return {"line": line, "label": label, "x": x + LOOP // 2, "y": y, "plate": _plate(label)}
    # A label stands where arrows lie apart: near the start, but for those of a fan near the end.
    x, y = _along(start, spots[1], 0.3 if fan == 1 else 0.62)
    x = max(x, start.right + _plate(label) // 2 + 8)
    line = f"M{start.right} {start.middle}"
    for before, after in zip(spots, spots[1:], strict=False):
        half = (before.right + after.x) // 2
        tip = after.x - 4 if after is end else after.x
        line += f" C{half} {before.middle},{half} {after.middle},{tip} {after.middle}"
        line += "" if after is end else f" H{after.right}"
    return {"line": line, "label": label, "x": x, "y": y, "plate": _plate(label)}


def _along(start: Spot, end: Spot, part: float) -> tuple[int, int]:
    """Return the point of the curve between two spots after this part of its length or so."""
    rise = 3 * part**2 - 2 * part**3  # both control points lie half-way, level with their ends
    run = 1.5 * part * (1 - part) + part**3
    x = start.right + (end.x - start.right) * run
    return round(x), round(start.middle + (end.middle - start.middle) * rise)


def _plate(label: str) -> int:
    return round(len(label) * SMALL + 8)
