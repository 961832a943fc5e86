"""A graph of ops -> a picture per run that fits a page: each leads downwards, and they wrap."""

from helpers.model.graph import Graph
from helpers.model.op_log import apart
from helpers.view.diagram import graph as diagram
from helpers.view.diagram import kinds
from helpers.view.markup import render
from helpers.view.picture import pictured

SMALLEST = 0.88  # of its natural size, beside another; alone a picture gives way to the page


def text(model: Graph) -> str:
    """Return the graph as one line per arrow."""
    return diagram.text(model)


def html(model: Graph) -> str:
    """Return the pictures, each under the name of its run, and the text form folded below."""
    figures = [_figure(name, graph) for name, graph in apart(model).items() if graph.nodes]
    shown = kinds.legend(node.kind for node in model.nodes)
    return render("page.html", model=model, figures=figures, legend=shown, body=text(model))


def _figure(name: str, graph: Graph) -> dict:
    alt = diagram.alt(name or graph.title, len(graph.nodes), len(graph.edges))
    return {"name": name, "alt": alt, **pictured(diagram.svg(graph, page=True), SMALLEST)}
