"""Two graphs -> what became of each node of the first one, inferred from the graphs alone.

The rules are asked one after the other, and the first one that fits a node decides: removed,
folded, merged, bypassed or cancelled. What no rule fits is added, changed or kept.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product

from ...model.graph_differences import MEANINGS, Finding, GraphDiff
from ...model.graphs import Graph, Node
from ...model.phrase import clip_text, format_names
from ...safety.arguments import real_isinstance, require_str
from .graph_steps import build_arrows, find_levels
from .tf_graph import build_graph

UNEXPLAINED = "gone; these two graphs do not show why"
MOST_NAMED = 3  # nodes in a sentence
LONGEST = 100  # characters of a node's name
LONGEST_TITLE = 200  # characters


def build_graph_diff(before, after, title: str = "") -> GraphDiff:
    """Return the diff of two graphs, each a Graph of the model or what `build_graph` accepts."""
    title = clip_text(require_str(title, "title"), LONGEST_TITLE)
    return compare_graphs(_read_graph(before), _read_graph(after), title)


def _read_graph(source) -> Graph:
    """Return a Graph of the model as it is, and build one from what `build_graph` accepts."""
    return source if real_isinstance(source, Graph) else build_graph(source)


def compare_graphs(before: Graph, after: Graph, title: str = "") -> GraphDiff:
    """Return the diff of two graphs whose nodes have their `op` and `attributes`."""
    comparison = _Comparison(_GraphIndex(before), _GraphIndex(after))
    _find_removed(comparison)
    _find_folded(comparison)
    _find_merged(comparison)
    _find_bypassed(comparison)
    _find_unexplained(comparison)
    _find_added(comparison)
    _find_changed_and_kept(comparison)

    order = list(MEANINGS)
    findings = sorted(comparison.findings, key=lambda finding: order.index(finding.word))
    title = title or f"Before: {len(before.nodes)} nodes. After: {len(after.nodes)}"
    return GraphDiff(title, before, after, tuple(findings))


class _GraphIndex:
    """The nodes of one graph by their keys, and what each node reads."""

    def __init__(self, graph: Graph):
        """Index the nodes and edges of a Graph of the model."""
        self.nodes: dict[str, Node] = {node.key: node for node in graph.nodes}
        # Of each node, the source and the label of each edge that leads to the node.
        self.inputs: dict[str, list[tuple[str, str]]] = {key: [] for key in self.nodes}
        for edge in graph.edges:
            self.inputs[edge.target].append((edge.source, edge.label))
        self.arrows = build_arrows(graph)

        levels = find_levels(self.arrows)
        last = len(self.nodes)  # after all levels: a node in a cycle has none
        # The keys in an order in which the inputs of a node come before the node.
        self.inputs_first = sorted(self.nodes, key=lambda key: levels.get(key, last))

    def sources(self, key: str) -> list[str]:
        """Return the keys that a node reads, one for each edge; [] if the node is not here."""
        return [source for source, _ in self.inputs.get(key, ())]

    def in_order(self, keys: Iterable[str]) -> list[str]:
        """Return these keys in the order of the graph's nodes."""
        wanted = set(keys)
        return [key for key in self.nodes if key in wanted]


class _Comparison:
    """Two graphs, the findings so far, and the nodes of the first that have no finding yet.

    A node of one graph is the same node as that of the other graph with the same key.
    """

    def __init__(self, before: _GraphIndex, after: _GraphIndex):
        """Begin without findings; the rules below add them one after the other."""
        self.before = before
        self.after = after
        self.findings: list[Finding] = []
        # The keys of the first graph without a finding; a dict, because a set has no order.
        self.open: dict[str, None] = dict.fromkeys(before.nodes)
        # The keys that only the first graph has, and those that only the second has.
        self.gone: set[str] = before.nodes.keys() - after.nodes.keys()
        self.new: set[str] = after.nodes.keys() - before.nodes.keys()
        # The gone keys that have no finding yet.
        self.unexplained: set[str] = set(self.gone)
        # A gone key -> the key of the node that the second graph reads instead.
        self.replacements: dict[str, str] = {}

    def add_finding(
        self, word: str, before: Iterable[str], after: Iterable[str], how: str = ""
    ) -> None:
        """Record what became of the nodes `before`, as far as they have no finding yet.

        `word` is one of the model's MEANINGS, `after` names nodes of the second graph, and `how` is
        a sentence on it.
        """
        keys = [key for key in self.before.in_order(before) if key in self.open]
        for key in keys:
            del self.open[key]
        self.unexplained.difference_update(keys)
        self.findings.append(Finding(word, tuple(keys), tuple(after), how))

    def expected_sources(self, key: str) -> list[str]:
        """Return what a node of the first graph read, with replacements for what is gone."""
        return [self.replacements.get(source, source) for source in self.before.sources(key)]

    def with_helpers(self, keys: Iterable[str]) -> list[str]:
        """Return the keys, and those of unexplained nodes that only these nodes read.

        "Only these" includes the helpers themselves, so a chain of helpers is found whole.
        """
        group = list(keys)
        for key in group:  # the list grows meanwhile
            for source in self.before.sources(key):
                is_candidate = source in self.unexplained and source not in group
                if is_candidate and set(group).issuperset(self.before.arrows[source]):
                    group.append(source)
        return group


def _find_removed(comparison: _Comparison) -> None:
    """Record as removed the nodes that are gone and from which no path leads to a result.

    The results are the nodes of the kind output. In a graph without one, they are the nodes that
    nothing reads and that the second graph has, too.
    """
    import networkx

    before = comparison.before
    results = [key for key, node in before.nodes.items() if node.kind == "output"]
    if not results:
        ends = [key for key in before.nodes if not before.arrows[key]]
        results = [key for key in ends if key not in comparison.gone]
    if not results:  # then every node would count as unneeded
        return
    needed = set(results)
    for key in results:
        needed |= networkx.ancestors(before.arrows, key)
    removed = comparison.gone - needed
    if removed:
        comparison.add_finding("removed", removed, (), "no path leads from it to a result")


def _find_folded(comparison: _Comparison) -> None:
    """Record as folded the nodes that were computed from constants only, and are constants now."""
    before = comparison.before
    is_constant: dict[str, bool] = {}
    for key in before.inputs_first:
        sources = before.sources(key)
        if sources:
            # A source in a cycle may have no answer yet, and counts as not constant.
            is_constant[key] = all(is_constant.get(source, False) for source in sources)
        else:
            is_constant[key] = before.nodes[key].kind == "constant"

    for key, node in before.nodes.items():
        node_after = comparison.after.nodes.get(key)
        if node_after is None or node_after.kind != "constant" or node.kind == "constant":
            continue
        if is_constant[key]:
            value = node_after.detail or node_after.label
            how = f"{key} is computed only from constants; it is now {value}"
            comparison.add_finding("folded", comparison.with_helpers([key]), (key,), how)


def _find_merged(comparison: _Comparison) -> None:
    """Record as merged the nodes that are gone while a twin of them is still there.

    The twin of a node is another node of the first graph that computes the same value. A graph
    often has equal constants by chance, so a constant counts as merged only if a node that read it
    in the first graph reads the twin in the second.
    """
    nodes = comparison.before.nodes
    twins = _find_twins(comparison)
    constants = [key for key in twins if nodes[key].kind == "constant"]
    others = [key for key in twins if nodes[key].kind != "constant"]

    keys_by_twin: dict[str, list[str]] = {}
    for key in others:
        comparison.replacements[key] = twins[key]
        keys_by_twin.setdefault(twins[key], []).append(key)
    # The constants come second: where the reader of one is merged itself, `_is_read_instead` asks
    # the twin of that reader, and finds it among the replacements recorded above.
    for key in constants:
        if _is_read_instead(comparison, key, twins[key]):
            comparison.replacements[key] = twins[key]
            keys_by_twin.setdefault(twins[key], []).append(key)

    for twin, keys in keys_by_twin.items():
        how = f"same op, attributes and inputs as {twin}"
        comparison.add_finding("merged", keys, (twin,), how)


def _find_twins(comparison: _Comparison) -> dict[str, str]:
    """Return the twin of each unexplained node that has one: the key of an equal node still there.

    Of several equal nodes, the twin is the first.
    """
    numbers = _number_values(comparison.before)
    first_by_number: dict[int, str] = {}
    for key in comparison.before.nodes:
        if key not in comparison.gone:
            first_by_number.setdefault(numbers[key], key)
    return {
        key: first_by_number[numbers[key]]
        for key in comparison.before.nodes
        if key in comparison.unexplained and numbers[key] in first_by_number
    }


def _is_read_instead(comparison: _Comparison, key: str, twin: str) -> bool:
    """Return whether a node that read `key` in the first graph reads `twin` in the second."""
    for reader in comparison.before.arrows[key]:
        reader_after = comparison.replacements.get(reader, reader)
        if twin in comparison.after.sources(reader_after):
            return True
    return False


def _number_values(graph: _GraphIndex) -> dict[str, int]:
    """Return a number for each key: value numbering, as compilers do it to find equal expressions.

    Two nodes have one number if they have the same op, the same attributes, and inputs with the
    same numbers. An input of the graph has a number of its own.
    """
    numbers: dict[str, int] = {}
    numbers_by_signature: dict[tuple, int] = {}
    for key in graph.inputs_first:
        node = graph.nodes[key]
        # A source in a cycle may have no number yet, and stands for itself.
        inputs = tuple((numbers.get(source, source), label) for source, label in graph.inputs[key])
        identity = key if node.kind == "input" else ""
        signature = (node.op or node.label, node.attributes, inputs, identity)
        next_number = len(numbers_by_signature)
        numbers[key] = numbers_by_signature.setdefault(signature, next_number)
    return numbers


def _find_bypassed(comparison: _Comparison) -> None:
    """Record the nodes that are gone, and whose readers now read what these nodes had read.

    The word is "bypassed". It is "cancelled" for several nodes of one op in a row, such as two
    transpositions, because they undo each other.
    """
    before = comparison.before
    for reader in before.nodes:
        if reader in comparison.gone:
            continue
        # Counters, because a node may read the same source more than once.
        expected = Counter(comparison.expected_sources(reader))
        current = Counter(comparison.after.sources(reader))
        lost_sources = expected - current
        gained_sources = [key for key in current - expected if key in before.nodes]
        for lost, gained in product(lost_sources, gained_sources):
            if lost not in comparison.unexplained:
                continue
            row = _find_row(comparison, lost, gained)
            if row:  # [] if `gained` was not read by `lost` or by a node in front of it
                comparison.replacements.update(dict.fromkeys(row, gained))
                word = "cancelled" if _is_row_of_one_op(before, row) else "bypassed"
                how = f"{reader} read {lost}, and now reads {gained}"
                comparison.add_finding(word, comparison.with_helpers(row), (), how)


def _is_row_of_one_op(graph: _GraphIndex, keys: list[str]) -> bool:
    """Return whether these are several nodes of one op that computes something.

    A node of the kind "pass", such as an Identity, computes nothing.
    """
    nodes = [graph.nodes[key] for key in keys]
    ops = {node.op for node in nodes}
    return len(nodes) > 1 and len(ops) == 1 and nodes[0].kind != "pass"


def _find_row(comparison: _Comparison, lost: str, gained: str) -> list[str]:
    """Return the unexplained nodes on a shortest path from a node that read `gained` to `lost`.

    Return [] if there is no such path. The search is breadth first, against the arrows.
    """
    rows = {lost: [lost]}  # a key -> the keys from it to `lost`
    waiting = [lost]
    for key in waiting:  # the list grows meanwhile
        sources = comparison.expected_sources(key)
        if gained in sources:
            return rows[key]
        new_sources = [
            source for source in sources if source in comparison.unexplained and source not in rows
        ]
        for source in new_sources:
            rows[source] = [source, *rows[key]]
        waiting += new_sources
    return []


def _find_unexplained(comparison: _Comparison) -> None:
    """Record the nodes that are gone and that no rule explains."""
    if comparison.unexplained:
        comparison.add_finding("changed", comparison.unexplained, (), UNEXPLAINED)


def _find_added(comparison: _Comparison) -> None:
    """Record the nodes that only the second graph has."""
    after = comparison.after
    for key in after.in_order(comparison.new):
        comparison.add_finding("added", (), (key,), f"a new {after.nodes[key].op or 'node'}")


def _find_changed_and_kept(comparison: _Comparison) -> None:
    """Record the nodes that both graphs have: changed, with the differences, or kept."""
    for key in list(comparison.open):
        differences = [
            *_describe_attributes(comparison.before.nodes[key], comparison.after.nodes[key]),
            *_describe_inputs(comparison, key),
        ]
        if differences:
            comparison.add_finding("changed", [key], (key,), "; ".join(differences))
    kept = list(comparison.open)
    if kept:
        comparison.add_finding("kept", kept, kept)


def _describe_attributes(before: Node, after: Node) -> Iterator[str]:
    """Yield how the op or the attributes of a node changed."""
    if before.op != after.op:
        yield f"the op was {before.op}, and is {after.op}"
        return
    values_before = dict(before.attributes)
    values_after = dict(after.attributes)
    different = set(before.attributes) ^ set(after.attributes)
    for name in sorted({name for name, _ in different}):
        value_before = values_before.get(name, "not there")
        value_after = values_after.get(name, "not there")
        yield f"{name} was {value_before}, and is {value_after}"


def _describe_inputs(comparison: _Comparison, key: str) -> Iterator[str]:
    """Yield how the inputs of a node changed that has the same op in both graphs."""
    if comparison.before.nodes[key].op != comparison.after.nodes[key].op:
        return
    expected = comparison.expected_sources(key)
    current = comparison.after.sources(key)
    lost = Counter(expected) - Counter(current)
    gained = Counter(current) - Counter(expected)
    if lost:
        yield f"no longer reads {_list_names(lost)}"
    if gained:
        yield f"now reads {_list_names(gained)}"
    if lost or gained:
        return

    # The sources are the same, so that only their outputs, or their order, can be different.
    inputs_before = _inputs_in_both(comparison, comparison.before, key)
    inputs_after = _inputs_in_both(comparison, comparison.after, key)
    other_outputs = Counter(inputs_before) - Counter(inputs_after)
    if other_outputs:
        sources = dict.fromkeys(source for source, _ in other_outputs)
        yield f"reads another output of {_list_names(sources)}, or only waits for it"
    elif expected != current or _is_reordered(inputs_before, inputs_after):
        yield "reads the same inputs in another order"


def _is_reordered(inputs_before: list, inputs_after: list) -> bool:
    """Return whether two lists of inputs of the same length are different."""
    return len(inputs_before) == len(inputs_after) and inputs_before != inputs_after


def _inputs_in_both(comparison: _Comparison, graph: _GraphIndex, key: str) -> list[tuple[str, str]]:
    """Return the inputs of a node in `graph` whose source is in the second graph, too.

    Each input is a source and the label of its edge. A source that is gone and was replaced is left
    out, because the edge from its replacement may have another label.
    """
    return [
        (source, label)
        for source, label in graph.inputs[key]
        if source in comparison.after.nodes and source not in comparison.replacements
    ]


def _list_names(keys: Iterable[str]) -> str:
    """Return the first few names of nodes, and how many more there are."""
    return format_names(keys, MOST_NAMED, LONGEST)
