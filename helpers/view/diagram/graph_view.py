"""A graph -> a picture with a text equivalent: one line per arrow. A large one is folded first."""

from collections import Counter, namedtuple
from dataclasses import replace

from markupsafe import Markup

from ...model.framework_records import apart
from ...model.graphs import MEANINGS, Edge, Graph, GraphDiff, Nest, Node, nested
from ...model.phrase import counted, listed
from ...model.tables import Column, Listing
from .. import View
from ..ink import pictured
from ..markup import joined, render
from ..table_view import table
from . import legend, named, one_per_pair, page, said
from .graph_drawing import draw_graph

MOST_ARROWS = 1_000  # of one picture, and of the text form of a graph that is not folded
NUMBERED = "#1, #2: boxes of the same name"
MOST_NODES, MOST_FOUND, MOST_KEPT = 60, 20, 30  # boxes; found ones that never fold; with others
PICTURE = "Both graphs in one picture"
MARKS = {"gone": "− gone", "new": "+ new", "altered": "~ changed"}
MOST_NAMED, LONGEST = 8, 100
HEADLINE = Markup('<p style="margin:0 0 6px 0;font-size:17px"><b>{}</b></p>')
COLUMNS = (
    Column("word", "what happened to it"),
    Column("before", "nodes before"),
    Column("after", "nodes after"),
    Column("how", "how you can tell"),
)
Row = namedtuple("Row", [column.field for column in COLUMNS])


def _text(model: Graph) -> str:
    """Return a line per arrow and loose box; a graph too large for a picture comes folded first."""
    shown = fold(model)
    if shown is model:
        return joined(model.title, *_first(_nested_lines(nested(model))), model.note)
    whole = ("Arrow by arrow:", *_first(_lines(model)))
    return joined(model.title, *_first(_lines(shown)), shown.note, *whole)


def _first(lines: list[str], most: int = MOST_ARROWS) -> list[str]:
    """Return lines that there is room for, and how many more there are."""
    rest = len(lines) - most
    return [*lines[:most], *([f"… and {rest} more lines; the model has them all."] * (rest > 0))]


def _lines(model: Graph) -> list[str]:
    plain = {node.key: named(node) for node in model.nodes}
    often, seen, names, arrows = Counter(plain.values()), Counter(), {}, []
    for key, name in plain.items():
        seen[name] += 1
        names[key] = f"{name} #{seen[name]}" if often[name] > 1 else name
    few = len(model.edges) <= MOST_ARROWS
    for edge in in_reading_order(model.edges) if few else model.edges:
        shaft = f" ── {said(edge.label)} ──▶ " if edge.label else " ──▶ "
        arrows.append(f"  {names[edge.source]}{shaft}{names[edge.target]}")
    touched = {end for edge in model.edges for end in (edge.source, edge.target)}
    found = [f"  found: {names[key]}" for key in model.found]
    alone = [f"  {names[node.key]}" for node in model.nodes if node.key not in touched]
    return [*found, *arrows, *alone, *([f"  {NUMBERED}"] if len(often) < len(plain) else [])]


def _nested_lines(nest: Nest, inset: str = "") -> list[str]:
    """Return the lines of a graph, then those of each of its bodies, further in."""
    lines = [inset + line for line in _lines(nest.graph)]
    for body in nest.bodies:
        caller = nest.graph.node(body.caller).label
        lines.append(f"{inset}  {said(body.label)} of {said(caller)}:")
        lines += _nested_lines(body.nest, f"{inset}    ")
    return lines


def in_reading_order(edges: tuple[Edge, ...]) -> list[Edge]:
    """Return the arrows; one that leaves a box waits for all that lead to it."""
    left, awaited, found = list(edges), Counter(edge.target for edge in edges), []
    while left:
        edge = next((edge for edge in left if not awaited[edge.source]), left[0])
        left.remove(edge)
        awaited[edge.target] -= 1
        found.append(edge)
    return found


def _html(model: Graph) -> str:
    if not model.nodes:
        return page(model, "nothing to draw")
    shown = fold(model)
    arrows, edges = len(shown.edges), one_per_pair(shown.edges)
    if len(edges) > MOST_ARROWS:
        told = f"{len(edges) - MOST_ARROWS:,} arrows are not drawn; the model has them all."
        shown = replace(shown, note=joined(told, shown.note))
    shown = replace(shown, edges=edges[:MOST_ARROWS])
    alt = f"{_alt(model.title, len(shown.nodes), arrows)}, listed below"
    kinds = [node.kind for node in shown.nodes]
    return page(shown, _text(model), draw_graph(shown), alt, kinds, bool(shown.found))


def _alt(title: str, boxes: int, arrows: int) -> str:
    words = f"{boxes} {'box' if boxes == 1 else 'boxes'}, {counted(arrows, 'arrow')}"
    return f"{title}: {words}" if title else words


def _figures_html(model: Graph) -> str:
    figures, kinds = [], []
    for name, run in apart(model).items():
        if run.nodes:
            alt = _alt(name or run.title, len(run.nodes), len(run.edges))
            figures.append({"name": name, "alt": alt, **pictured(draw_graph(run, page=True))})
            kinds += [node.kind for node in run.nodes]
    values = {"figures": figures, "legend": legend(kinds), "body": _text(model)}
    return render("page.html", model=model, **values)


def fold(model: Graph, most: int = MOST_NODES) -> Graph:
    """Return the graph with scopes folded to one box each, until `most` boxes or fewer.

    The deepest scopes fold first, the largest of them before others; what a search found stays out.
    """
    if len(model.nodes) <= most:
        return model
    found = set(model.found[:MOST_FOUND])
    ends = [(edge.source, edge.target) for edge in model.edges]
    near = {end for both in ends if found.intersection(both) for end in both}
    kept = found | near if len(near) <= MOST_KEPT else found
    scopes = {}  # of each box, the outermost first
    for node in model.nodes:
        parts = node.group.split("/") if node.group and node.key not in kept else []
        scopes[node.key] = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    inside = Counter(scope for path in scopes.values() for scope in path)
    names = {key: key for key in scopes}
    for scope in sorted(inside, key=lambda s: (-s.count("/"), -inside[s], s)):
        if len(set(names.values())) <= most:
            break
        names |= {key: f"group {scope}" for key, path in scopes.items() if scope in path}
    nodes = {}
    for node in model.nodes:
        name, scope = names[node.key], names[node.key].removeprefix("group ")
        group = Node(name, scope, "group", f"{inside[scope]} boxes, folded")
        nodes.setdefault(name, node if name == node.key else group)
    moved = dict.fromkeys(Edge(names[e.source], names[e.target], e.label) for e in model.edges)
    chosen = set(sorted(nodes, key=lambda key: key not in kept)[:most])
    shown = tuple(node for key, node in nodes.items() if key in chosen)
    within = (edge for edge in moved if chosen.issuperset((edge.source, edge.target)))
    edges = tuple(edge for edge in within if edge.source != edge.target)
    told = [f"{len(model.nodes)} boxes are too many to read in one picture."]
    if groups := sorted(node.label for node in shown if node.kind == "group"):
        told.append(f"Folded: {listed(groups, 12)}.")
    if len(nodes) > most:
        told.append(f"Left out: the last {len(nodes) - most}.")
    told += ["The text below lists it arrow by arrow.", model.note]
    found = tuple(key for key in model.found if key in chosen)
    note = " ".join(told).strip()
    return Graph(model.title, shown, edges, note, found=found, wide=model.wide)


# -- a diff ----------------------------------------------------------------------------------------


def _findings(model: GraphDiff) -> Listing:
    rows = []
    for f in (f for word in MEANINGS for f in model.found(word)):
        before, after = (listed(keys, MOST_NAMED, LONGEST) for keys in (f.before, f.after))
        rows.append(Row(f.word, before, "the same" if f.word == "kept" else after, f.how))
    return Listing(model.title, COLUMNS, tuple(rows), model.note)


def _summary(model: GraphDiff) -> str:
    """Return in one sentence how many nodes there were and are, and what happened to the others."""
    merged = merge_graphs(model)
    kinds = Counter(node.kind for node in merged.nodes if node.kind in MARKS)
    made = set(model.after.edges) - set(model.before.edges)
    said = [f"{n} {MARKS[kind][2:]}" for kind, n in sorted(kinds.items())]
    said += [f"{counted(len(made), 'arrow')} new"] if made else []
    before, after = len(model.before.nodes), len(model.after.nodes)
    return f"{counted(before, 'node')} before, {after} after: {', '.join(said) or 'no change'}."


def merge_graphs(model: GraphDiff) -> Graph:
    """Return both graphs as one; what is not as it was says so, and the title explains marks."""
    words = {key: f.word for f in model.findings for key in f.after}
    words |= {key: f.word for f in model.findings for key in f.before}
    before = {node.key: node for node in model.before.nodes}
    after = {node.key: node for node in model.after.nodes}
    nodes, edges, marked = [], [], set()
    for key, node in {**before, **after}.items():
        word = words.get(key, "")
        if word != "kept":
            kind = "new" if key not in before else "gone" if key not in after else "altered"
            detail, label = f"{word}: {node.detail}", f"{MARKS[kind][0]} {node.label}"
            told = detail if node.detail and kind != "gone" else word
            node = node._replace(label=label, detail=told, kind=kind)
        nodes.append(node)
    then, now, there = model.before.edges, model.after.edges, before.keys() & after.keys()
    for edge in dict.fromkeys((*then, *now)):
        word = "" if edge in then and edge in now else "new" if edge in now else "gone"
        if word and edge.source in there and edge.target in there:
            marked.add(word)
            edge = edge._replace(label=f"{word} {edge.label}".strip())
        edges.append(edge)
    kinds = {node.kind for node in nodes}
    told = [words for kind, words in MARKS.items() if kind in kinds]
    told += [f"a label marks an arrow that is {' or '.join(sorted(marked))}"] if marked else []
    title = f"{PICTURE}: {', '.join(told)}" if told else PICTURE
    return Graph(title, tuple(nodes), tuple(edges))


graph = View(_text, _html)
figures = View(_text, _figures_html)


def _diff_text(model: GraphDiff) -> str:
    return f"{_summary(model)}\n{table.text(_findings(model))}\n\n{graph.text(merge_graphs(model))}"


def _diff_html(model: GraphDiff) -> str:
    told = HEADLINE.format(_summary(model))
    return f"{told}{graph.html(merge_graphs(model))}\n<br>{table.html(_findings(model))}"


graph_diff = View(_diff_text, _diff_html)
