"""A graph -> a picture with a text equivalent: one line per arrow.

The picture is an SVG inside an image, because that is what JupyterLab shows of an untrusted
notebook; `view.picture` says what becomes of it elsewhere.
"""

from collections import Counter, defaultdict
from dataclasses import replace
from heapq import heapify, heappop, heappush

from helpers.model.bodies import Nest, nested
from helpers.model.graph import Edge, Graph
from helpers.model.op_log import apart
from helpers.model.phrase import counted
from helpers.view import View, row_limit
from helpers.view.diagram.graph_drawing import svg
from helpers.view.diagram.graph_folding import fold
from helpers.view.diagram.shapes import legend, named, one_per_pair, said
from helpers.view.markup import joined, render
from helpers.view.picture import SMALLEST, pictured, width

MOST_LINES = 100  # of the text form of a folded graph; what is beyond is counted
MOST_ARROWS = 1_000  # of one picture, and of the text form of a graph that is not folded
LONGEST_TEXT = 100_000  # characters of the text form
NUMBERED = "#1, #2: boxes of the same name"
ROOM = 1_000  # pixels of all pictures of a graph of several runs
SMALL_STEP, LABELLED = 66, 84  # from row to row where boxes have names alone; words on an arrow


def text(model: Graph) -> str:
    """Return the graph as one line per arrow, then the boxes that no arrow touches.

    A graph that is too large for one picture comes folded first, as in the picture.
    """
    shown, lines = fold(model), _lines(model)
    if shown is model:
        return joined(model.title, *_first(_nested_lines(nested(model))), model.note)
    whole = ("Arrow by arrow:", *_first(lines, MOST_LINES))
    return joined(model.title, *_first(_lines(shown)), shown.note, *whole)


def _first(lines: list[str], most: int = MOST_ARROWS) -> list[str]:
    """Return lines that there is room for, and how many more there are."""
    fitting = min(row_limit.fold(list(map(len, lines[:most])), LONGEST_TEXT).head, most)
    rest = len(lines) - fitting
    more = [f"… and {rest} more lines; the model has them all."] if rest > 0 else []
    return [*lines[:fitting], *more]


def _lines(model: Graph) -> list[str]:
    plain = {node.key: named(node) for node in model.nodes}
    often, seen, names = Counter(plain.values()), Counter(), {}
    for key, name in plain.items():
        seen[name] += 1
        names[key] = f"{name} #{seen[name]}" if often[name] > 1 else name
    arrows = []
    for edge in in_reading_order(model.edges):
        shaft = f" ── {said(edge.label)} ──▶ " if edge.label else " ──▶ "
        arrows.append(f"  {names[edge.source]}{shaft}{names[edge.target]}")
    touched = {end for edge in model.edges for end in (edge.source, edge.target)}
    found = [f"  found: {names[key]}" for key in model.found]
    alone = [f"  {names[node.key]}" for node in model.nodes if node.key not in touched]
    return [*found, *arrows, *alone, *([f"  {NUMBERED}"] if len(often) < len(plain) else [])]


def _nested_lines(nest: Nest, inset: str = "") -> list[str]:
    """Return the lines of a graph, then those of each of its bodies, further in."""
    lines = [inset + line for line in _lines(nest.graph)]
    callers = {node.key: node.label for node in nest.graph.nodes}
    for body in nest.bodies:
        lines.append(f"{inset}  {said(body.label)} of {said(callers[body.caller])}:")
        lines += _nested_lines(body.nest, f"{inset}    ")
    return lines


def in_reading_order(edges: tuple[Edge, ...]) -> list[Edge]:
    """Return the arrows as they are given, but for those that would leave a box too early.

    Such an arrow waits for the last one that leads to its box. Where boxes wait for each other, in
    a cycle, the first arrow that is left goes on.
    """
    leaving, awaited = defaultdict(list), Counter(edge.target for edge in edges)
    for at, edge in enumerate(edges):
        leaving[edge.source].append(at)
    ready = [at for at, edge in enumerate(edges) if not awaited[edge.source]]
    heapify(ready)
    left = dict.fromkeys(range(len(edges)))
    found = []
    while left:
        at = heappop(ready) if ready else next(iter(left))
        if at not in left:
            continue
        del left[at]
        found.append(edges[at])
        awaited[edges[at].target] -= 1
        if not awaited[edges[at].target]:
            for after in leaving[edges[at].target]:
                heappush(ready, after)
    return found


def html(model: Graph) -> str:
    """Return the picture as an image, and the text form folded below it."""
    if not model.nodes:
        return render("diagram.html", model=model, image="", legend="", body="nothing to draw")
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
        alt=f"{_alt(model.title, len(shown.nodes), arrows)}, listed below",
        body=text(model),
        legend=legend([node.kind for node in shown.nodes], bool(shown.found)),
        **pictured(svg(shown), SMALLEST),
    )


def _alt(title: str, boxes: int, arrows: int) -> str:
    """Return what stands for a picture: its title, if it has one, and how much is in it."""
    words = f"{boxes} {'box' if boxes == 1 else 'boxes'}, {counted(arrows, 'arrow')}"
    return f"{title}: {words}" if title else words


def _figures_html(model: Graph) -> str:
    """Return a picture per run that fits a page: each leads downwards, and they wrap.

    Where they would not stand beside each other, each box has its name alone; the text has all.
    """
    runs = {name: graph for name, graph in apart(model).items() if graph.nodes}
    drawn = {name: svg(graph, page=True) for name, graph in runs.items()}
    if len(runs) > 1 and sum(map(width, drawn.values())) > ROOM:
        drawn = {name: _small(graph) for name, graph in runs.items()}
    figures = [
        {
            "name": name,
            "alt": _alt(name or graph.title, len(graph.nodes), len(graph.edges)),
            **pictured(drawn[name], SMALLEST),
        }
        for name, graph in runs.items()
    ]
    shown = legend(node.kind for graph in runs.values() for node in graph.nodes)
    return render("page.html", model=model, figures=figures, legend=shown, body=text(model))


def _small(graph: Graph) -> str:
    names = tuple(replace(node, detail="") for node in graph.nodes)
    step = LABELLED if any(edge.label for edge in graph.edges) else SMALL_STEP
    return svg(replace(graph, nodes=names), page=True, step=step)


graph = View(text, html)
figures = View(text, _figures_html)
