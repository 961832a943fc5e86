"""Two graphs -> what became of each node of the first one, inferred from the graphs alone. A graph
is what TensorFlow runs: nodes (ops) and edges (tensors). Each node has a *key*, its unique name,
and a node is the same in both graphs if it has the same key. A key that only the first graph has is
*gone*, and one that only the second has is *new*. The rules below are tried in a fixed order on the
gone nodes, and the first one that fits a node decides: removed, folded, merged, bypassed or
cancelled. Each answer is a Finding: a word of MEANINGS, and the keys that it is about.
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
    """Return `source` itself if it is a Graph of the model, else the Graph that describes it."""
    return source if real_isinstance(source, Graph) else build_graph(source)


def compare_graphs(before: Graph, after: Graph, title: str = "") -> GraphDiff:
    """Return the diff of two graphs: a Finding for each group of nodes, in the order of MEANINGS.

    The nodes need their `op` and `attributes`, by which they are compared. Without a `title` the
    diff is called by the numbers of nodes.
    """
    # The order matters. Each rule leaves to the next one what it could not decide.
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
        # The key of a node -> (source, label) of each edge that leads to the node. The label says
        # which output of the source is read.
        self.inputs: dict[str, list[tuple[str, str]]] = {key: [] for key in self.nodes}
        for edge in graph.edges:
            self.inputs[edge.target].append((edge.source, edge.label))
        self.arrows = build_arrows(graph)

        levels = find_levels(self.arrows)  # the key of a node -> its step in a topological order
        last = len(self.nodes)  # a node in a cycle has no level, and comes after all others
        # All keys, ordered so that the inputs of a node come before the node.
        self.inputs_first = sorted(self.nodes, key=lambda key: levels.get(key, last))

    def list_sources(self, key: str) -> list[str]:
        """Return the keys of the nodes that a node reads, one for each edge.

        Return [] if this graph does not have the node.
        """
        return [source for source, _ in self.inputs.get(key, ())]

    def sort_keys(self, keys: Iterable[str]) -> list[str]:
        """Return these keys in the order of the graph's nodes."""
        wanted = set(keys)
        return [key for key in self.nodes if key in wanted]


class _Comparison:
    """Two graphs, the findings so far, and the nodes of the first graph that have none yet."""

    def __init__(self, before: _GraphIndex, after: _GraphIndex):
        """Begin without findings; the rules below add them one after the other."""
        self.before = before
        self.after = after
        self.findings: list[Finding] = []
        # The keys of the first graph without a finding, as a set with an order.
        self.undecided: dict[str, None] = dict.fromkeys(before.nodes)
        # The keys that only the first graph has, and those that only the second has.
        self.gone: set[str] = before.nodes.keys() - after.nodes.keys()
        self.new: set[str] = after.nodes.keys() - before.nodes.keys()
        # The gone keys without a finding.
        self.gone_undecided: set[str] = set(self.gone)
        # A gone key -> the key of the node that is read in the second graph instead.
        self.replacements: dict[str, str] = {}

    def add_finding(
        self, word: str, before: Iterable[str], after: Iterable[str], how: str = ""
    ) -> None:
        """Record what became of some nodes of the first graph.

        `word` is a key of the model's MEANINGS. `before` are keys of the first graph, of which
        those that have a finding already are left out. `after` are keys of the second graph, and
        `how` is the sentence that tells a reader the reason.
        """
        keys = [key for key in self.before.sort_keys(before) if key in self.undecided]
        for key in keys:
            del self.undecided[key]
        self.gone_undecided.difference_update(keys)
        self.findings.append(Finding(word, tuple(keys), tuple(after), how))

    def expected_sources(self, key: str) -> list[str]:
        """Return what a node of the first graph should read now, if nothing else has changed.

        These are the keys that it read, with the known replacements for those that are gone.
        """
        return [self.replacements.get(source, source) for source in self.before.list_sources(key)]

    def with_exclusive_inputs(self, keys: Iterable[str]) -> list[str]:
        """Return the keys, and those of gone nodes that served nothing but these keys.

        When a node disappears, the nodes that only this node read disappear with it. They get the
        same finding. A chain of such nodes is found whole, because the list that is searched grows.
        """
        group = list(keys)
        for key in group:
            for source in self.before.list_sources(key):
                is_candidate = source in self.gone_undecided and source not in group
                readers = self.before.arrows[source]
                if is_candidate and set(group).issuperset(readers):
                    group.append(source)
        return group


def _find_removed(comparison: _Comparison) -> None:
    """Record as removed the gone nodes that no result needed: no path leads from them to a result.

    The results are the nodes of the kind "output". A graph may have no such node. Then the results
    are the nodes that nothing reads, and of these only those that the second graph has, too.
    """
    import networkx

    before = comparison.before
    results = [key for key, node in before.nodes.items() if node.kind == "output"]
    if not results:
        unread = [key for key in before.nodes if not before.arrows[key]]
        results = [key for key in unread if key not in comparison.gone]
    if not results:  # without a result, every node would count as not needed
        return
    needed = set(results)
    for key in results:
        needed |= networkx.ancestors(before.arrows, key)
    removed = comparison.gone - needed
    if removed:
        comparison.add_finding("removed", removed, (), "no path leads from it to a result")


def _find_folded(comparison: _Comparison) -> None:
    """Record as folded the nodes that were computed from constants only, and are constants now.

    An optimizer folds `2 * 3` when it replaces the product by the constant 6. The new constant has
    the key of the product.
    """
    before = comparison.before
    depends_on_constants_only = _find_constant_results(before)
    for key, node in before.nodes.items():
        node_after = comparison.after.nodes.get(key)
        if node_after is None or node_after.kind != "constant" or node.kind == "constant":
            continue
        if depends_on_constants_only[key]:
            value = node_after.detail or node_after.label
            how = f"{key} is computed only from constants; it is now {value}"
            comparison.add_finding("folded", comparison.with_exclusive_inputs([key]), (key,), how)


def _find_constant_results(graph: _GraphIndex) -> dict[str, bool]:
    """Return key -> whether all that the node reads, directly or not, are constants.

    A node that reads nothing counts if it is a constant itself.
    """
    is_constant: dict[str, bool] = {}
    for key in graph.inputs_first:
        sources = graph.list_sources(key)
        if sources:
            # A source in a cycle may have no answer yet, and counts as not constant.
            is_constant[key] = all(is_constant.get(source, False) for source in sources)
        else:
            is_constant[key] = graph.nodes[key].kind == "constant"
    return is_constant


def _find_merged(comparison: _Comparison) -> None:
    """Record as merged each gone node whose twin is still there.

    The *twin* of a node is another node of the first graph that computes the same value. An
    optimizer keeps one of the two, and both their readers read that one.
    """
    nodes = comparison.before.nodes
    twins = _find_twins(comparison)  # a gone key -> the key of its twin
    constants = [key for key in twins if nodes[key].kind == "constant"]
    computed = [key for key in twins if nodes[key].kind != "constant"]

    keys_by_twin: dict[str, list[str]] = {}
    for key in computed:
        comparison.replacements[key] = twins[key]
        keys_by_twin.setdefault(twins[key], []).append(key)
    # A graph often has equal constants by chance. So a constant counts as merged only if one of its
    # readers reads the twin now. The reader may be merged itself, so `_is_read_instead` needs the
    # replacements that the loop above has recorded.
    for key in constants:
        if _is_read_instead(comparison, key, twins[key]):
            comparison.replacements[key] = twins[key]
            keys_by_twin.setdefault(twins[key], []).append(key)

    for twin, keys in keys_by_twin.items():
        how = f"same op, attributes and inputs as {twin}"
        comparison.add_finding("merged", keys, (twin,), how)


def _find_twins(comparison: _Comparison) -> dict[str, str]:
    """Return key -> twin, for each gone node without a finding that has a twin in both graphs.

    The twin is the first node of the first graph that computes the same value and is not gone.
    """
    numbers = _number_values(comparison.before)  # nodes of the same value have the same number
    first_key_by_number: dict[int, str] = {}
    for key in comparison.before.nodes:
        if key not in comparison.gone:
            first_key_by_number.setdefault(numbers[key], key)

    twins = {}
    for key in comparison.before.nodes:
        if key in comparison.gone_undecided and numbers[key] in first_key_by_number:
            twins[key] = first_key_by_number[numbers[key]]
    return twins


def _is_read_instead(comparison: _Comparison, key: str, twin: str) -> bool:
    """Return whether a node that read `key` in the first graph reads `twin` in the second."""
    for reader in comparison.before.arrows[key]:
        # If the reader was merged, the node that replaces it is asked.
        reader_after = comparison.replacements.get(reader, reader)
        if twin in comparison.after.list_sources(reader_after):
            return True
    return False


def _number_values(graph: _GraphIndex) -> dict[str, int]:
    """Return key -> number, where nodes that compute the same value have the same number.

    This is *value numbering*, by which compilers find equal expressions. Two nodes get the same
    number if they have the same op, the same attributes, and inputs with the same numbers. Each
    input of the graph gets a number of its own, because its value comes from outside.
    """
    numbers: dict[str, int] = {}
    # (op, attributes, numbered inputs, key of an input of the graph) -> number
    numbers_by_signature: dict[tuple, int] = {}
    for key in graph.inputs_first:
        node = graph.nodes[key]
        # A source in a cycle may have no number yet. Its key stands for the number.
        inputs = tuple((numbers.get(source, source), label) for source, label in graph.inputs[key])
        identity = key if node.kind == "input" else ""
        signature = (node.op or node.label, node.attributes, inputs, identity)
        next_number = len(numbers_by_signature)
        numbers[key] = numbers_by_signature.setdefault(signature, next_number)
    return numbers


def _find_bypassed(comparison: _Comparison) -> None:
    """Record the gone nodes whose readers now read what these nodes had read.

    If the first graph has a -> b -> c, and the second graph a -> c, then b is "bypassed". Several
    nodes of one op in a row, such as two transpositions, are "cancelled", because they undo each
    other.
    """
    before = comparison.before
    for reader in before.nodes:
        if reader in comparison.gone:
            continue
        # Counters, because a node may read the same source more than once.
        expected = Counter(comparison.expected_sources(reader))
        current = Counter(comparison.after.list_sources(reader))
        lost_sources = expected - current
        # A node that only the second graph has was read by no node of the first.
        gained_sources = [key for key in current - expected if key in before.nodes]
        for lost, gained in product(lost_sources, gained_sources):
            if lost not in comparison.gone_undecided:
                continue
            path = _find_lost_path(comparison, lost, gained)
            if path:  # else `gained` has nothing to do with `lost`
                comparison.replacements.update(dict.fromkeys(path, gained))
                word = "cancelled" if _is_chain_of_one_op(before, path) else "bypassed"
                how = f"{reader} read {lost}, and now reads {gained}"
                comparison.add_finding(word, comparison.with_exclusive_inputs(path), (), how)


def _is_chain_of_one_op(graph: _GraphIndex, keys: list[str]) -> bool:
    """Return whether these are several nodes of one op, and the op computes something.

    A node of the kind "pass", such as an Identity, computes nothing.
    """
    nodes = [graph.nodes[key] for key in keys]
    ops = {node.op for node in nodes}
    return len(nodes) > 1 and len(ops) == 1 and nodes[0].kind != "pass"


def _find_lost_path(comparison: _Comparison, lost: str, gained: str) -> list[str]:
    """Return the gone nodes between `gained` and `lost`, with `lost` as the last one.

    For `gained` -> b -> `lost` in the first graph, return [b, lost]. It is a shortest path over
    gone nodes without a finding, found by a breadth-first search from `lost` against the arrows.
    Return [] if there is no such path.
    """
    paths = {lost: [lost]}  # a key -> the keys on the path from it to `lost`
    waiting = [lost]
    for key in waiting:  # the list grows meanwhile
        sources = comparison.expected_sources(key)
        if gained in sources:
            return paths[key]
        for source in sources:
            if source in comparison.gone_undecided and source not in paths:
                paths[source] = [source, *paths[key]]
                waiting.append(source)
    return []


def _find_unexplained(comparison: _Comparison) -> None:
    """Record as changed the nodes that are gone and that no rule explains."""
    if comparison.gone_undecided:
        comparison.add_finding("changed", comparison.gone_undecided, (), UNEXPLAINED)


def _find_added(comparison: _Comparison) -> None:
    """Record the nodes that only the second graph has."""
    after = comparison.after
    for key in after.sort_keys(comparison.new):
        comparison.add_finding("added", (), (key,), f"a new {after.nodes[key].op or 'node'}")


def _find_changed_and_kept(comparison: _Comparison) -> None:
    """Record the nodes that both graphs have, as changed or as kept.

    A node is changed if its op, its attributes or its inputs differ. The finding lists how. A node
    that only reads a replacement of what it read before is kept.
    """
    for key in list(comparison.undecided):
        differences = [
            *_describe_attributes(comparison.before.nodes[key], comparison.after.nodes[key]),
            *_describe_inputs(comparison, key),
        ]
        if differences:
            comparison.add_finding("changed", [key], (key,), "; ".join(differences))
    kept = list(comparison.undecided)
    if kept:
        comparison.add_finding("kept", kept, kept)


def _describe_attributes(before: Node, after: Node) -> Iterator[str]:
    """Yield a phrase for each difference of two nodes with one key, as in "T was 1, and is 2"."""
    if before.op != after.op:
        yield f"the op was {before.op}, and is {after.op}"
        return  # another op has other attributes, so they say nothing
    values_before = dict(before.attributes)
    values_after = dict(after.attributes)
    # `attributes` are pairs (name, value). A pair that only one node has is a difference.
    different_pairs = set(before.attributes) ^ set(after.attributes)
    for name in sorted({name for name, _ in different_pairs}):
        value_before = values_before.get(name, "not there")
        value_after = values_after.get(name, "not there")
        yield f"{name} was {value_before}, and is {value_after}"


def _describe_inputs(comparison: _Comparison, key: str) -> Iterator[str]:
    """Yield a phrase for each difference in what a node reads, as in "now reads c".

    Nothing is said of a node whose op has changed, because its inputs mean something else then.
    """
    if comparison.before.nodes[key].op != comparison.after.nodes[key].op:
        return
    expected = comparison.expected_sources(key)
    current = comparison.after.list_sources(key)
    lost = Counter(expected) - Counter(current)
    gained = Counter(current) - Counter(expected)
    if lost:
        yield f"no longer reads {_list_names(lost)}"
    if gained:
        yield f"now reads {_list_names(gained)}"
    if lost or gained:
        return

    # The sources are the same. So only the labels of the edges, which say which output of a source
    # is read, or the order of the inputs can be different.
    inputs_before = _list_shared_inputs(comparison, comparison.before, key)
    inputs_after = _list_shared_inputs(comparison, comparison.after, key)
    other_outputs = Counter(inputs_before) - Counter(inputs_after)
    if other_outputs:
        sources = dict.fromkeys(source for source, _ in other_outputs)
        yield f"reads another output of {_list_names(sources)}, or only waits for it"
    elif expected != current or _is_reordered(inputs_before, inputs_after):
        yield "reads the same inputs in another order"


def _is_reordered(inputs_before: list, inputs_after: list) -> bool:
    """Return whether two lists of inputs have the same items in another order.

    The caller knows that the items do not differ. If the lengths differ, one list is incomplete,
    and nothing is known of the order.
    """
    return len(inputs_before) == len(inputs_after) and inputs_before != inputs_after


def _list_shared_inputs(
    comparison: _Comparison, graph: _GraphIndex, key: str
) -> list[tuple[str, str]]:
    """Return (source, label) of those inputs of a node that can be compared between the graphs.

    `graph` is one of the two graphs. A source that is not in the second graph is left out. So is
    one that was replaced, because the edge from its replacement may have another label.
    """
    return [
        (source, label)
        for source, label in graph.inputs[key]
        if source in comparison.after.nodes and source not in comparison.replacements
    ]


def _list_names(keys: Iterable[str]) -> str:
    """Return the first few keys as text, and how many more there are."""
    return format_names(keys, MOST_NAMED, LONGEST)
