"""Two graphs and what happened to their nodes -> one graph with marks, and a table of findings.
A *finding* is a word, such as `kept` or `fused`, with the keys of the nodes before and after.
"""

from collections import Counter
from dataclasses import dataclass, replace

from ...model.graph_differences import MEANINGS, Finding, GraphDiff
from ...model.graphs import Edge, Graph, Node
from ...model.phrase import format_count, format_names
from ...model.tables import Column, Listing

PICTURE_TITLE = "Both graphs in one picture"
MARKS = {"gone": "− gone", "new": "+ new", "altered": "~ changed"}
CHANGE_WORDS = {kind: mark[2:] for kind, mark in MARKS.items()}  # without the sign: `gone`
MOST_NAMED = 8  # keys in one cell
LONGEST_NAMES = 100  # characters
COLUMNS = (
    Column("word", "what happened to it"),
    Column("before", "nodes before"),
    Column("after", "nodes after"),
    Column("how", "how you can tell"),
)


@dataclass(frozen=True)
class FindingRow:
    """A line of the table of findings."""

    word: str
    """What happened."""
    before: str
    """The keys in the first graph."""
    after: str
    """The keys in the second graph."""
    how: str
    """How one can tell."""


def list_findings(model: GraphDiff) -> Listing:
    """Return the table of findings, sorted by their words in the order of `MEANINGS`."""
    rows = []
    for word in MEANINGS:
        rows += [_make_row(finding) for finding in model.found(word)]
    return Listing(model.title, COLUMNS, tuple(rows), model.note)


def _make_row(finding: Finding) -> FindingRow:
    """Return the line of the table for a finding, in which long lists of keys are cut.

    A node that was kept has the same key before and after.
    """
    before = format_names(finding.before, MOST_NAMED, LONGEST_NAMES)
    if finding.word == "kept":
        after = "the same"
    else:
        after = format_names(finding.after, MOST_NAMED, LONGEST_NAMES)
    return FindingRow(finding.word, before, after, finding.how)


def describe_diff(model: GraphDiff) -> str:
    """Return one sentence: how many nodes there were and are, and how many have changed how."""
    kinds = Counter(node.kind for node in merge_graphs(model).nodes if node.kind in MARKS)
    changes = [f"{count} {CHANGE_WORDS[kind]}" for kind, count in sorted(kinds.items())]

    new_edges = set(model.after.edges) - set(model.before.edges)
    if new_edges:
        changes.append(f"{format_count(len(new_edges), 'arrow')} new")

    before = format_count(len(model.before.nodes), "node")
    after = len(model.after.nodes)
    return f"{before} before, {after} after: {', '.join(changes) or 'no change'}."


def merge_graphs(model: GraphDiff) -> Graph:
    """Return both graphs as one, in which nodes and edges that are new, gone or changed are marked.

    The title explains the marks.
    """
    nodes = _merge_nodes(model)
    edges, edge_words = _merge_edges(model)

    kinds = {node.kind for node in nodes}
    explanations = [words for kind, words in MARKS.items() if kind in kinds]
    if edge_words:
        explanations.append(f"a label marks an arrow that is {' or '.join(sorted(edge_words))}")

    title = PICTURE_TITLE
    if explanations:
        title = f"{PICTURE_TITLE}: {', '.join(explanations)}"
    return Graph(title, tuple(nodes), tuple(edges))


def _merge_nodes(model: GraphDiff) -> list[Node]:
    """Return the nodes of both graphs, with a mark on those that are new, gone or changed."""
    # node key -> what happened to the node. If both graphs have a key, the finding about the node
    # of the first graph counts.
    words = {key: finding.word for finding in model.findings for key in finding.after}
    words |= {key: finding.word for finding in model.findings for key in finding.before}
    before = {node.key: node for node in model.before.nodes}
    after = {node.key: node for node in model.after.nodes}

    nodes = []
    for key, node in {**before, **after}.items():
        word = words.get(key, "")
        if word == "kept":
            nodes.append(node)
        elif key not in before:
            nodes.append(_mark_node(node, "new", word))
        elif key not in after:
            nodes.append(_mark_node(node, "gone", word))
        else:
            nodes.append(_mark_node(node, "altered", word))
    return nodes


def _mark_node(node: Node, kind: str, word: str) -> Node:
    """Return a node that gets the kind `kind` with its mark, and `word`: what happened to it.

    A node that is gone loses its old detail, which says nothing about the second graph.
    """
    detail = word
    if node.detail and kind != "gone":
        detail = f"{word}: {node.detail}"
    mark = MARKS[kind][0]  # the sign: −, + or ~
    return replace(node, label=f"{mark} {node.label}", detail=detail, kind=kind)


def _merge_edges(model: GraphDiff) -> tuple[list[Edge], set[str]]:
    """Return the edges of both graphs, and the words that mark some of them: `new`, `gone`.

    Only an edge between two boxes that both graphs have is marked. Of another edge, the mark of a
    box at its end says enough.
    """
    before = {node.key for node in model.before.nodes}
    in_both = before & {node.key for node in model.after.nodes}
    old_edges = model.before.edges
    new_edges = model.after.edges

    merged = []
    used_words = set()
    for edge in dict.fromkeys((*old_edges, *new_edges)):
        is_unchanged = edge in old_edges and edge in new_edges
        if not is_unchanged and edge.source in in_both and edge.target in in_both:
            word = "new" if edge in new_edges else "gone"
            used_words.add(word)
            edge = replace(edge, label=f"{word} {edge.label}".strip())
        merged.append(edge)
    return merged, used_words
