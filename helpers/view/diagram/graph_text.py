"""A graph -> its text form: a line for each arrow, such as `x ── reads ──▶ add`, and for each box
without an arrow.
"""

from collections import Counter

from ...model.graph_bodies import Nest, nest_bodies
from ...model.graphs import Edge, Graph
from ..plain_text import join_nonempty
from .graph_folding import fold_graph
from .labels import format_in_one_line, format_node

MOST_ARROWS = 1_000  # of one picture, and of the text form of a graph that is not folded
NUMBERED = "#1, #2: boxes of the same name"


def render_graph_text(model: Graph) -> str:
    """Return a line for each arrow, and for each box without an arrow.

    A graph too large for a picture is listed twice: with scopes folded to one box each, as in the
    picture, and then as it is.
    """
    folded = fold_graph(model)
    if folded is model:  # the graph is small enough for one picture
        lines = _limit_lines(_list_nested_lines(nest_bodies(model)))
        return join_nonempty(model.title, *lines, model.note)

    folded_lines = _limit_lines(_list_graph_lines(folded))
    all_lines = _limit_lines(_list_graph_lines(model))
    return join_nonempty(model.title, *folded_lines, folded.note, "Arrow by arrow:", *all_lines)


def _limit_lines(lines: list[str]) -> list[str]:
    """Return the first lines, and a line that counts the others if there are any."""
    rest = len(lines) - MOST_ARROWS
    if rest <= 0:
        return lines
    return [*lines[:MOST_ARROWS], f"… and {rest} more lines; the model has them all."]


def _list_nested_lines(nest: Nest, indent: str = "") -> list[str]:
    """Return the lines of a graph, then those of each body that a node of it calls, indented."""
    lines = [indent + line for line in _list_graph_lines(nest.graph)]
    for body in nest.bodies:
        name = format_in_one_line(body.label)
        caller = format_in_one_line(nest.graph.node(body.caller).label)
        lines.append(f"{indent}  {name} of {caller}:")
        lines += _list_nested_lines(body.nest, f"{indent}    ")
    return lines


def _list_graph_lines(model: Graph) -> list[str]:
    """Return the lines of a graph without bodies.

    First come the boxes that a search found, then all arrows, then the boxes without an arrow.
    """
    names, is_numbered = _name_nodes(model)
    lines = [f"  found: {names[key]}" for key in model.found]

    edges = model.edges
    # A reader follows a value from line to line, so the arrows to a box come before those from it.
    if len(edges) <= MOST_ARROWS:  # the time of sorting grows with the square of the number
        edges = sort_for_reading(edges)
    for edge in edges:
        label = f" {format_in_one_line(edge.label)} ──" if edge.label else ""
        lines.append(f"  {names[edge.source]} ──{label}▶ {names[edge.target]}")

    keys_with_arrow = set()
    for edge in model.edges:
        keys_with_arrow |= {edge.source, edge.target}
    lines += [f"  {names[node.key]}" for node in model.nodes if node.key not in keys_with_arrow]

    if is_numbered:
        lines.append(f"  {NUMBERED}")
    return lines


def _name_nodes(model: Graph) -> tuple[dict[str, str], bool]:
    """Return node key -> name, and whether some of the names have a number.

    Nodes of the same name are numbered, such as `relu #1` and `relu #2`.
    """
    plain_names = {node.key: format_node(node) for node in model.nodes}
    counts = Counter(plain_names.values())
    numbers = Counter()  # name -> how many nodes of this name are numbered so far
    names = {}
    for key, name in plain_names.items():
        numbers[name] += 1
        names[key] = f"{name} #{numbers[name]}" if counts[name] > 1 else name
    has_equal_names = len(counts) < len(plain_names)
    return names, has_equal_names


def sort_for_reading(edges: tuple[Edge, ...]) -> list[Edge]:
    """Return the arrows in an order in which an arrow from a box follows all arrows to that box.

    This is a topological order of the edges. If each arrow that is left is in a cycle or behind
    one, the first arrow that is left comes next.
    """
    remaining = list(edges)
    awaited_counts = Counter(edge.target for edge in edges)  # box -> arrows to it that remain
    ordered = []
    while remaining:
        ready = (edge for edge in remaining if not awaited_counts[edge.source])
        edge = next(ready, remaining[0])
        remaining.remove(edge)
        awaited_counts[edge.target] -= 1
        ordered.append(edge)
    return ordered
