"""A compiled function -> the guards of its cache entries, as a graph and as a table.

In the graph, each cache entry is a tree. The root is the function, below it are the values that
guards look at, such as `L['x']`, and below each value are its guards.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ...internals import dynamo_codes
from ...model.graphs import Edge, Node
from ...model.guard_records import Guard, GuardGraph, build_guard_listing
from ...model.phrase import format_names
from ...model.tables import Listing
from ...safety.arguments import require_str
from ..cpython.objects import read_function_name
from .cache_entries import format_entry_count, read_cache_entries
from .compiled_function import find_compiled_function
from .frame_words import describe_code
from .guard_leaves import LeafGuard, list_children, list_leaf_guards, list_leaves_of_node
from .guard_words import BETWEEN_VALUES, STATE_OF_TORCH, remove_ids

COUNTED_FROM = 60  # guards; fewer are not counted by kind
MOST_COUNTS = 8  # kinds of guards, or parts of values, that a note counts
LONGEST_COUNT = 160  # characters of one count
MOST_FRAMES = 8
ALL_MUST_PASS = "all these guards must pass"
NOTHING_COMPILED = (
    "compile it with torch.compile and call "
    "it first (a call without torch ops leaves none, nor does a function that "
    "torch must wrap, such as a partial or a module of torch's own)"
)
# The part of a value that a guard looks at: L['self']._modules['layer1'] of an inner module,
# L['x'] of an argument, G or ___stack0 of another source.
PART_OF_VALUE = re.compile(
    r"L\['\w+'\](?:\._modules\['\w+'\]|\.(?!_modules)\w+)?|[\w.]+|.+", re.DOTALL
)


def find_guards(fn, find: str = "") -> GuardGraph:
    """Return the guard trees of `fn` as a graph; nodes that contain the text `find` are marked.

    Raises
    ------
    LookupError
        Nothing was compiled, or no guard contains the text. The message names other functions that
        have guards with this text.
    """
    try:
        return _build_guard_graph(fn, find)
    except LookupError as error:
        raise LookupError(f"{error}{_describe_other_frames(find)}") from None


def list_guards(fn, find: str = "") -> Listing:
    """Return the guards of `fn` as a table; with `find` only those that contain this text.

    A LookupError is raised as in `find_guards`.
    """
    try:
        graph = _build_guard_graph(fn)
        return build_guard_listing(graph, require_str(find, "find"))
    except LookupError as error:
        raise LookupError(f"{error}{_describe_other_frames(find)}") from None


def _build_guard_graph(fn, find: str = "") -> GuardGraph:
    """Return the guard tree of each cache entry of `fn`; nodes that contain `find` are marked.

    A LookupError names no other functions: the callers of this function add them.
    """
    find = require_str(find, "find")
    function, sentences = find_compiled_function(fn, compiled=True)
    name = read_function_name(function)
    entries = read_cache_entries(function.__code__)
    if not entries:
        raise LookupError(f"Dynamo keeps no compiled code for {name}(); {NOTHING_COMPILED}")

    builder = GuardGraphBuilder()
    for entry_number, entry in enumerate(entries, start=1):
        builder.add_entry(entry_number, entry, name)
    guards = builder.guards
    note = " ".join((f"{len(guards)} guards in all.", *_count_guards(guards), *sentences))
    graph = GuardGraph(
        title=f"Guards of {name}(): {format_entry_count(len(entries))}",
        nodes=builder.nodes,
        edges=builder.edges,
        note=note,
        guards=guards,
    )
    return graph.find(find) if find else graph


class GuardGraphBuilder:
    """Collects the nodes and the edges of a graph of guard trees."""

    def __init__(self):
        """Begin a graph without nodes."""
        self._nodes_by_key: dict[str, Node] = {}  # such as "entry 1 L['x']" -> node
        self._edges: list[Edge] = []
        # A guard between two values is below both, and its record is the same. As keys of a dict,
        # records are kept once and in order.
        self._guards: dict[Guard, None] = {}

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Return the nodes in the order in which they were added."""
        return tuple(self._nodes_by_key.values())

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Return the edges in the order in which they were added."""
        return tuple(self._edges)

    @property
    def guards(self) -> tuple[Guard, ...]:
        """Return each guard once, as a record, in the order in which they were added."""
        return tuple(self._guards)

    def add_entry(self, entry_number: int, entry, function_name: str) -> None:
        """Add the guard tree of cache entry `entry_number`: a node for it, and all nodes below."""
        key = f"entry {entry_number}"
        entry_node = Node(
            key=key,
            label=f"{function_name}(), {key}",
            kind="function",
            detail=ALL_MUST_PASS,
            group=key,
        )
        self._nodes_by_key[key] = entry_node
        root = entry.guard_manager.root
        for child in list_children(root):
            self._add_tree(entry_node, entry_number, child)

        between_values = _split_guards_between_values(entry)
        if between_values:
            self._add_branch(entry_node, entry_number, BETWEEN_VALUES, between_values)
        # The guards of torch's root node are about settings of torch. They come last, because no
        # argument and no line of the program belongs to them.
        self._add_branch(entry_node, entry_number, STATE_OF_TORCH, list_leaves_of_node(root))

    def _add_tree(self, parent: Node, entry_number: int, torchs_node) -> None:
        """Add the value of one node of torch's guard tree, and the nodes below it.

        `parent` is the node of the picture under which the value is added, `entry_number` the
        number of the cache entry, and `torchs_node` a guard manager of torch's.
        """
        source = torchs_node.get_source()
        node = self._add_branch(parent, entry_number, source, list_leaves_of_node(torchs_node))
        for child in list_children(torchs_node):
            self._add_tree(node, entry_number, child)

    def _add_branch(
        self, parent: Node, entry_number: int, source: str, leaves: Sequence[LeafGuard]
    ) -> Node:
        """Add a value with the guards on it, and return the node of the value.

        Parameters
        ----------
        parent : Node
            The node above.
        entry_number : int
            The number of the cache entry.
        source : str
            What the guards look at, as torch writes it.
        leaves : sequence of LeafGuard
            The guards on this value.
        """
        label = remove_ids(source)
        # Nodes of one group can be folded in the picture. The name of a group is a path, such as
        # `entry 1/L['x']`, so a slash inside a label is replaced.
        label_in_group = label.replace("/", "|")
        node = Node(
            key=self._find_free_key(f"entry {entry_number} {label}"),
            label=label,
            kind="object" if source == STATE_OF_TORCH else "name",
            group=f"{parent.group}/{label_in_group}",
        )
        self._add_node(parent, node)
        for leaf in leaves:
            self._add_guard(node, leaf.to_record(entry_number))
        return node

    def _add_guard(self, parent: Node, guard: Guard) -> None:
        """Add a guard under the node of the value that it looks at."""
        node = Node(
            key=self._find_free_key(remove_ids(f"entry {guard.entry} {guard.name}")),
            label=guard.kind,
            kind="guard",
            detail=guard.checks,
            group=parent.group,
            op=guard.checks,
        )
        self._add_node(parent, node)
        self._guards[guard] = None

    def _add_node(self, parent: Node, node: Node) -> None:
        """Add a node under another one, with an edge between them."""
        self._nodes_by_key[node.key] = node
        self._edges.append(Edge(parent.key, node.key))

    def _find_free_key(self, key: str) -> str:
        """Return a key that no node has yet: `key`, with a mark added for each node that has it.

        Two keys are equal if they differed only in ids, which are removed, or if a guard is below
        two values.
        """
        while key in self._nodes_by_key:
            key += "′"
        return key


def _split_guards_between_values(entry) -> list[LeafGuard]:
    """Return the guards of a cache entry that compare several values, one for each check.

    Torch has one guard for all checks of sizes. Here it becomes one guard for each check.
    """
    return [
        replace(leaf, parts=(part,))
        for leaf in list_leaf_guards(entry)
        if leaf.source == BETWEEN_VALUES
        for part in leaf.parts
    ]


def _count_guards(guards: Sequence[Guard]) -> list[str]:
    """Return two sentences that count the guards by kind, and by the value that they look at.

    For fewer than `COUNTED_FROM` guards, the list is empty.
    """
    if len(guards) < COUNTED_FROM:
        return []
    counts_by_kind = Counter(guard.kind for guard in guards)
    # Values inside one module or argument are counted together.
    counts_by_value = Counter(PART_OF_VALUE.match(guard.source)[0] for guard in guards)
    return [
        f"By kind: {_format_counts(counts_by_kind)}.",
        f"By what they look at: {_format_counts(counts_by_value)}.",
    ]


def _format_counts(counts: Counter) -> str:
    """Return the names that occur most, each with its count: `TENSOR_MATCH 62, ID_MATCH 1`."""
    texts = [f"{name} {count:,}" for name, count in counts.most_common()]
    return format_names(texts, MOST_COUNTS, LONGEST_COUNT)


def _describe_other_frames(find: str) -> str:
    """Return the end of a sentence that names functions with a guard that contains this text.

    Return "" if no function has one, or if `find` is "".
    """
    searched = find.casefold()
    if not searched:
        return ""
    # The keys are texts such as `step (train.py:12)`. Several code objects may have the same one.
    frames = {}
    for code in dynamo_codes.list_met_codes():
        if _has_guard_with(code, searched):
            frames[describe_code(code)] = None
    if not frames:
        return ""
    return f"; other frames have such guards: {format_names(frames, MOST_FRAMES)}"


def _has_guard_with(code, searched: str) -> bool:
    """Return whether a code object has a guard with the text `searched`, in upper or lower case.

    `searched` itself is in lower case.
    """
    for entry in read_cache_entries(code):
        for leaf in list_leaf_guards(entry):
            guard = leaf.to_record(1)  # the number of the entry does not matter here
            text = f"{guard.name} {guard.checks} {guard.line}"
            if searched in text.casefold():
                return True
    return False
