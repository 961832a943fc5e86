"""A graph of ops -> a picture per run that fits a page: each leads downwards, and they wrap.

Where they would not stand beside each other, each box has its name alone; the text form has all.
"""

from dataclasses import replace

from helpers.model.graph import Graph
from helpers.model.op_log import apart
from helpers.view.diagram import graph as diagram
from helpers.view.diagram import kinds
from helpers.view.markup import render
from helpers.view.picture import pictured, width

ROOM = 1_000  # pixels of all pictures
STEP, LABELLED = 66, 84  # from row to row where boxes have names alone; with words on an arrow
SMALLEST = 0.88  # of its natural size, where letters have 10 pixels; a narrower window scrolls


def text(model: Graph) -> str:
    """Return the graph as one line per arrow."""
    return diagram.text(model)


def html(model: Graph) -> str:
    """Return the pictures, each under the name of its run, and the text form folded below."""
    runs = {name: graph for name, graph in apart(model).items() if graph.nodes}
    drawn = {name: diagram.svg(graph, page=True) for name, graph in runs.items()}
    if len(runs) > 1 and sum(map(width, drawn.values())) > ROOM:
        drawn = {name: _small(graph) for name, graph in runs.items()}
    figures = [_figure(name, graph, drawn[name]) for name, graph in runs.items()]
    shown = kinds.legend(node.kind for graph in runs.values() for node in graph.nodes)
    return render("page.html", model=model, figures=figures, legend=shown, body=text(model))


def _small(graph: Graph) -> str:
    names = tuple(replace(node, detail="") for node in graph.nodes)
    step = LABELLED if any(edge.label for edge in graph.edges) else STEP
    return diagram.svg(replace(graph, nodes=names), page=True, step=step)


def _figure(name: str, graph: Graph, drawn: str) -> dict:
    alt = diagram.alt(name or graph.title, len(graph.nodes), len(graph.edges))
    return {"name": name, "alt": alt, **pictured(drawn, SMALLEST)}
