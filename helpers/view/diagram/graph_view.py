"""A graph, several graphs, or two to compare -> a picture with the same facts as text."""

from dataclasses import replace

from markupsafe import Markup

from ...model.graph_differences import GraphDiff
from ...model.graphs import Graph, split_graph
from ...model.phrase import format_count
from .. import View
from ..images import embed_picture
from ..markup import render
from ..plain_text import join_nonempty
from ..table_view import table
from .box_kinds import render_kinds_legend
from .drawing import render_picture_page
from .graph_drawing import draw_graph
from .graph_folding import fold_graph
from .graph_text import MOST_ARROWS, render_graph_text
from .labels import merge_parallel_edges
from .merged_graph import describe_diff, list_findings, merge_graphs

HEADLINE = Markup('<p style="margin:0 0 6px 0;font-size:17px"><b>{}</b></p>')


def _render_graph_html(model: Graph) -> str:
    """Return a picture of the graph, and the text form below it.

    The scopes of a large graph are folded to one box each, and at most `MOST_ARROWS` arrows are
    drawn.
    """
    if not model.nodes:
        return render_picture_page(model, "nothing to draw")

    folded = fold_graph(model)
    description = _describe_picture(model.title, len(folded.nodes), len(folded.edges))
    edges = merge_parallel_edges(folded.edges)
    left_out_count = len(edges) - MOST_ARROWS
    if left_out_count > 0:
        sentence = f"{left_out_count:,} arrows are not drawn; the model has them all."
        folded = replace(folded, note=join_nonempty(sentence, folded.note))
    folded = replace(folded, edges=edges[:MOST_ARROWS])

    return render_picture_page(
        folded,
        render_graph_text(model),
        svg=draw_graph(folded),
        alt=f"{description}, listed below",
        kinds=[node.kind for node in folded.nodes],
        has_found=bool(folded.found),
    )


def _describe_picture(title: str, box_count: int, arrow_count: int) -> str:
    """Return what a screen reader says of a picture: its title, how many boxes and arrows."""
    boxes = f"{box_count} {'box' if box_count == 1 else 'boxes'}"
    arrows = format_count(arrow_count, "arrow")
    return f"{title}: {boxes}, {arrows}" if title else f"{boxes}, {arrows}"


def _render_figures_html(model: Graph) -> str:
    """Return a figure for each of the graphs that are joined in `model`, beside each other.

    Below the figures, the page has their common legend and the text form of the whole model.
    """
    figures = []  # each with `name`, `alt`, `image` and `least`, see `embed_picture`
    kinds = []
    for name, part in split_graph(model).items():
        if part.nodes:
            alt = _describe_picture(name or part.title, len(part.nodes), len(part.edges))
            picture = embed_picture(draw_graph(part, page=True))
            figures.append({"name": name, "alt": alt, **picture})
            kinds += [node.kind for node in part.nodes]

    legend = render_kinds_legend(kinds)
    body = render_graph_text(model)
    return render("page.html", model=model, figures=figures, legend=legend, body=body)


def _render_diff_text(model: GraphDiff) -> str:
    """Return what changed: a sentence, a table of findings, and both graphs as one."""
    findings = table.text(list_findings(model))
    merged = render_graph_text(merge_graphs(model))
    return f"{describe_diff(model)}\n{findings}\n\n{merged}"


def _render_diff_html(model: GraphDiff) -> str:
    """Return what changed: a sentence, a picture of both graphs as one, and a table."""
    headline = HEADLINE.format(describe_diff(model))
    picture = _render_graph_html(merge_graphs(model))
    findings = table.html(list_findings(model))
    return f"{headline}{picture}\n<br>{findings}"


graph = View(render_graph_text, _render_graph_html)
figures = View(render_graph_text, _render_figures_html)
graph_diff = View(_render_diff_text, _render_diff_html)
