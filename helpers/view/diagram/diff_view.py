"""A graph diff -> a table of what became of the nodes, and both graphs merged in one picture.

Every box says its word; a mark leads the name of what is not as it was: − gone, + new, ~ changed.
"""

from dataclasses import dataclass, replace

from helpers.model.graph import Graph, Node
from helpers.model.graph_diff import MEANINGS, GraphDiff
from helpers.model.listing import Column, Listing
from helpers.model.phrase import listed
from helpers.view import View
from helpers.view.diagram.graph_view import graph
from helpers.view.table_view import table

PICTURE = "Both graphs in one picture"
MARKS = {"gone": "− gone", "new": "+ new", "altered": "~ changed"}
MOST_NAMED, MOST_FINDINGS, LONGEST = 8, 40, 100
COLUMNS = (
    Column("word", "what became of it"),
    Column("before", "nodes before"),
    Column("after", "there now"),
    Column("how", "how that can be seen"),
)


@dataclass(frozen=True)
class Row:
    """One finding in words."""

    word: str
    before: str
    after: str
    how: str


def _text(model: GraphDiff) -> str:
    """Return the table of findings, then every arrow of both graphs."""
    return f"{table.text(_findings(model))}\n\n{graph.text(merged(model))}"


def _html(model: GraphDiff) -> str:
    """Return the table of findings and the picture, with its text form folded below it."""
    return f"{table.html(_findings(model))}\n<br>{graph.html(merged(model))}"


def _findings(model: GraphDiff) -> Listing:
    """Return the findings as a listing; of very many with the same word, the first."""
    rows = []
    for word in MEANINGS:
        found = model.found(word)
        for f in found[:MOST_FINDINGS]:
            now = "the same" if f.word == "kept" else _names(f.after)
            rows.append(Row(f.word, _names(f.before), now, f.how))
        if rest := found[MOST_FINDINGS:]:
            more = f"… {sum(len(f.before or f.after) for f in rest):,} more nodes"
            how = f"{len(rest):,} more findings; .model.found({word!r}) has them all"
            rows.append(Row(word, more, "", how))
    return Listing(model.title, COLUMNS, tuple(rows), model.note)


def _names(keys) -> str:
    return listed(keys, MOST_NAMED, LONGEST)


def merged(model: GraphDiff) -> Graph:
    """Return both graphs as one: each node once, each arrow once, marked gone or new."""
    words = {key: f.word for f in model.findings for key in (*f.after, *f.before)}
    words |= {key: f.word for f in model.findings for key in f.before}
    before = {node.key: node for node in model.before.nodes}
    after = {node.key: node for node in model.after.nodes}
    nodes = []
    for key in {**before, **after}:
        word, then, now = words.get(key, ""), before.get(key), after.get(key)
        if then is None:
            nodes.append(_changed("new", now, word))
        elif now is None:
            nodes.append(_changed("gone", then, word))
        else:
            nodes.append(now if word == "kept" else _changed("altered", now, word))
    there = before.keys() & after.keys()
    edges = tuple(_arrows(model.before.edges, model.after.edges, there))
    return Graph(_picture_title(nodes, edges), tuple(nodes), edges)


def _picture_title(nodes, edges) -> str:
    """Return the title: what the marks stand for that are in the picture."""
    kinds = {node.kind for node in nodes}
    said = [words for kind, words in MARKS.items() if kind in kinds]
    words = {edge.label.partition(" ")[0] for edge in edges} & {"new", "gone"}
    said += [f"an arrow is {' or '.join(sorted(words))} where it says so"] if words else []
    return f"{PICTURE}: {', '.join(said)}" if said else PICTURE


def _changed(kind: str, node: Node, word: str) -> Node:
    """Return a node under its mark, with the word that says what became of it."""
    detail = f"{word}: {node.detail}" if node.detail else word
    return replace(node, label=f"{MARKS[kind][0]} {node.label}", detail=detail, kind=kind)


def _arrows(before, after, there):
    """Yield each arrow once. One that is gone or new says so, unless a box at its end says it."""
    then, now = dict.fromkeys(before), dict.fromkeys(after)
    for edge in (*then, *(edge for edge in now if edge not in then)):
        word = "" if edge in then and edge in now else "new" if edge in now else "gone"
        told = edge.source not in there or edge.target not in there
        yield edge if told else replace(edge, label=f"{word} {edge.label}".strip())


graph_diff = View(_text, _html)
