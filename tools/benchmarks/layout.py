"""How often arrows cross in pictures of ours, and in those of `dot` of the same graphs.

    python -m tools.benchmarks.layout

draws the twenty graphs of layout.json, which are those of the course's verbs, both ways, and writes
what was counted in dot's pictures beside them. `tests/view/test_layout.py` holds ours to it where
there is no dot.
"""

import json
import re
import sys
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

from helpers.model.graphs import Edge, Graph, Node
from helpers.view.diagram.drawing import BOX_HEIGHT
from helpers.view.diagram.graph_drawing import draw_graph
from helpers.view.diagram.labels import measure_box_width
from helpers.view.images import SMALLEST
from tests.pythons import finished

FILE = Path(__file__).with_suffix(".json")
SVG = "{http://www.w3.org/2000/svg}"
POINTS = 12  # of each curve
INCH = 72  # pixels, as dot counts


def crossings(lines) -> int:
    """Return how many pairs of arrows cross that have no box in common.

    `lines`: (source, target, points) of each arrow. Each is shifted by less than a pixel, for two
    that cross in a point of both would not be seen to.
    """
    apart = [
        ({source, target}, [(x + 0.0131 * n, y + 0.0073 * n) for x, y in line])
        for n, (source, target, line) in enumerate(lines)
    ]
    pairs = combinations(apart, 2)
    return sum(_cross(one, other) for (ends, one), (others, other) in pairs if not ends & others)


def _cross(one, other) -> bool:
    return any(_meet(*a, *b) for a in pairwise(one) for b in pairwise(other))


def _meet(a, b, c, d) -> bool:
    """Say whether two pieces cross, each with its ends on both sides of the other."""
    if max(a[0], b[0]) < min(c[0], d[0]) or max(c[0], d[0]) < min(a[0], b[0]):
        return False
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def _side(a, b, p) -> float:
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def ours(model: Graph):
    """Return the lines of our picture, its width and height, and the size of its smallest text."""
    picture = ElementTree.fromstring(draw_graph(model))
    edges = dict.fromkeys((edge.source, edge.target) for edge in model.edges)
    arrows = [p for p in picture.iter(f"{SVG}path") if "arrow" in p.get("class", "").split()]
    lines = [(*ends, points(p.get("d"))) for ends, p in zip(edges, arrows, strict=True)]
    sizes = re.findall(r"([\d.]+)px", "".join(style.text for style in picture.iter(f"{SVG}style")))
    size = (float(picture.get("width")), float(picture.get("height")))
    return lines, size, min(map(float, sizes)) * SMALLEST


def points(path: str) -> list[tuple[float, float]]:
    """Return points along a path of M, H, V, L and C, all in absolute numbers."""
    found = []
    for letter, rest in re.findall(r"([MHVLC])([^MHVLC]*)", path):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", rest)]
        if letter in "HV":
            x, y = found[-1]
            found.append((numbers[0], y) if letter == "H" else (x, numbers[0]))
        elif letter == "C":
            found += _curve([found[-1], *zip(numbers[::2], numbers[1::2], strict=True)])
        else:
            found.append(tuple(numbers))
    return found


def _curve(corners):
    for step in range(1, POINTS + 1):
        t = step / POINTS
        shares = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
        yield tuple(
            sum(s * c[axis] for s, c in zip(shares, corners, strict=True)) for axis in (0, 1)
        )


def by_dot(model: Graph, across: bool):
    """Return the lines of dot's picture, its width and height; its boxes are as large as ours."""
    keys = {node.key: f"n{number}" for number, node in enumerate(model.nodes)}
    edges = dict.fromkeys((edge.source, edge.target) for edge in model.edges)
    words = [f"digraph{{rankdir={'LR' if across else 'TB'};node[shape=box,fixedsize=true]"]
    for node in model.nodes:
        wide = measure_box_width(node) / INCH
        words.append(f"{keys[node.key]}[width={wide:.3f},height={BOX_HEIGHT / INCH:.3f}]")
    words += [f"{keys[source]}->{keys[target]}" for source, target in edges]
    told = finished(["dot", "-Tplain"], input=";".join(words) + "}").stdout
    names, lines, size = {name: key for key, name in keys.items()}, [], (0.0, 0.0)
    for kind, *rest in map(str.split, told.replace("\\\n", "").splitlines()):
        if kind == "graph":
            size = (float(rest[1]) * INCH, float(rest[2]) * INCH)
        elif kind == "edge":
            numbers = [float(n) * INCH for n in rest[3 : 3 + 2 * int(rest[2])]]
            corners = list(zip(numbers[::2], numbers[1::2], strict=True))
            line = corners[:1]
            for at in range(0, len(corners) - 1, 3):
                line += _curve(corners[at : at + 4])
            lines.append((names[rest[0]], names[rest[1]], line))
    return lines, size


def samples() -> list[tuple[str, Graph, dict]]:
    """Return name and graph of each sample, and what was counted in dot's picture of it."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    return [(each["name"], _graph(each["graph"]), each["dot"]) for each in kept]


def _graph(kept: dict) -> Graph:
    nodes = tuple(Node(*fields) for fields in kept["nodes"])
    return Graph(kept["title"], nodes, tuple(Edge(*fields) for fields in kept["edges"]))


def main() -> None:
    """Draw all graphs both ways, write down what dot's came to and tell how ours compare."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    for each in kept:
        model = _graph(each["graph"])
        lines, size, text = ours(model)
        ends, room = by_dot(model, across=size[0] > size[1])
        each["dot"] = {"crossings": crossings(ends), "area": round(room[0] * room[1])}
        area = size[0] * size[1] / (room[0] * room[1])
        print(
            f"{each['name']:32} crossings {crossings(lines):3}, dot's {each['dot']['crossings']:3};"
            f" {area:.1f} times the area; text {text:.1f} px or more"
        )
    FILE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
