"""A compiled function -> a graph of what torch keeps for it, from CPython's slot to the backend.

CPython has a slot for a frame evaluator, into which torch puts its own (PEP 523). It looks in the
cache of the code object for an entry, whose guards must hold. The entry has new code, which calls
what the backend made of the graph.
"""

from types import CodeType, FunctionType

from ...internals import compiled_functions, dynamo_codes
from ...mini import frame_hook
from ...model.graphs import Edge, Graph, Node
from ...model.phrase import clip_text, format_count, format_names
from ..cpython.objects import read_callable_name, read_function_name, read_instance_dict
from .cache_entries import format_entry_count, read_cache_entries
from .compiled_function import find_compiled_function
from .fx_graph import KINDS
from .guard_leaves import list_leaf_guards

MOST_CALLS = 6  # of an FX graph that are named
LONGEST_GRAPH = 80  # characters of these names


def build_compiled_graph(fn) -> Graph:
    """Return what `torch.compile` keeps for `fn` now, as a graph."""
    function, unwrapping = find_compiled_function(fn, compiled=True)
    drawing = _CompiledDrawing(function)
    drawing.add_start()

    # Entries are numbered in the order in which they were compiled. Torch tries them in another
    # order, that of its own list.
    entries_by_age = read_cache_entries(function.__code__)
    entries_as_tried = dynamo_codes.read_cache_entries(function.__code__)
    for number, entry in enumerate(entries_by_age, 1):
        ranks = (rank for rank, tried in enumerate(entries_as_tried, 1) if tried is entry)
        drawing.add_entry(number, entry, rank=next(ranks, ""))

    note = " ".join((f"{format_entry_count(len(entries_by_age))} in the cache.", *unwrapping))
    title = f"What torch.compile keeps for {read_function_name(function)}"
    return Graph(title, tuple(drawing.nodes), tuple(drawing.edges), note, wide=True)


class _CompiledDrawing:
    """Collects the nodes and edges of the graph of one compiled function."""

    def __init__(self, function: FunctionType):
        """Begin with nothing drawn; `function` is what Dynamo starts with."""
        self._function = function
        self._name = read_function_name(function)
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []

    def add_start(self) -> None:
        """Add three nodes: a call, the frame evaluator in the slot, and the code object."""
        code = self._function.__code__
        slot = frame_hook.installed()[0]  # the evaluator, with its name and whose it is
        units = f"__code__: {_count_code_units(code)}"
        self.nodes += [
            Node("call", f"{self._name}(…)", "site", "a call"),
            Node("slot", slot.name, "function", f"in the slot now: {slot.owner}"),
            Node("code", f"code of {code.co_name}", "code", units),
        ]
        what_slot_does = "looks for entries" if slot.owner == "torch" else "runs"
        self.edges += [
            Edge("call", "slot", "its frame goes to"),
            Edge("slot", "code", what_slot_does),
        ]

    def add_entry(self, number: int, entry, rank: int | str) -> None:
        """Add a cache entry with its guards, its new code, and what the new code calls.

        Parameters
        ----------
        number : int
            The number of the entry, from 1, the oldest first.
        entry : torch's cache entry
            The entry.
        rank : int or str
            1 for the entry that torch tries first; "" if the entry is not in torch's list.
        """
        key = f"entry {number}"
        code_key = f"{key} code"
        guards = format_count(len(list_leaf_guards(entry)), "guard")
        units = _count_code_units(entry.code)
        self._add("code", "keeps", Node(key, key, "entry", f"tried as number {rank}"))
        self._add(key, "checks", Node(f"{key} guards", guards, "guard", "in C++"))
        self._add(key, "if all hold, runs", Node(code_key, "new code", "code", units))

        # Dynamo stores graphs and resume functions as globals of the function's module. These are
        # their names in the new code.
        for name in entry.code.co_names:
            value = self._function.__globals__.get(name)
            if name.startswith("__compiled_fn"):
                self._add_compiled_graph(key, entry, value)
            elif name.startswith("__resume_at") and isinstance(value, FunctionType):
                entry_count = len(read_cache_entries(value.__code__))
                details = f"{format_entry_count(entry_count)} of its own"
                resumed = Node(f"{key} {name}", f"{self._name}, resumed", "function", details)
                self._add(code_key, "then calls", resumed)

    def _add_compiled_graph(self, entry_key: str, entry, compiled) -> None:
        """Add what the backend made of an entry's graph, and the backend itself.

        `compiled` is the global that the entry's new code calls for the graph.
        """
        # The entry may have a wrapper of torch's around the backend, with the backend inside.
        backend = (read_instance_dict(entry.backend) or {}).get("compiler_fn") or entry.backend
        backend_name = read_callable_name(backend)
        graph_key = f"{entry_key} graph"
        details = _describe_backend_result(compiled)
        result_node = Node(graph_key, "what the backend made", "call", details)
        backend_key = f"backend {backend_name}"
        backend_node = Node(backend_key, backend_name, "function", "the backend")
        self._add(f"{entry_key} code", "calls", result_node)
        self._add(graph_key, "made by", backend_node)

    def _add(self, source: str, label: str, node: Node) -> None:
        """Add a node, unless there is one with the same key, and an edge to it from `source`.

        `source` is the key of the node where the edge begins, and `label` the text on the edge.
        """
        if all(node.key != other.key for other in self.nodes):
            self.nodes.append(node)
        self.edges.append(Edge(source, node.key, label))


def _count_code_units(code: CodeType) -> str:
    """Return the length of a code object in code units of two bytes, such as `12 code units`."""
    return format_count(len(code.co_code) // 2, "code unit")


def _describe_backend_result(compiled) -> str:
    """Return what a backend made of a graph: `the FX graph: mul, add`, or that it is none any more.

    The first is the result of a backend that returns its graph unchanged, as "eager" does.
    """
    import torch

    inner = compiled_functions.find_original(compiled)
    module = getattr(inner, "__self__", inner)  # a backend often returns `graph.forward`
    if not isinstance(module, torch.fx.GraphModule):
        return "no FX graph any more"
    names = [node.name for node in module.graph.nodes if node.op not in KINDS]
    return clip_text(f"the FX graph: {format_names(names, MOST_CALLS)}", LONGEST_GRAPH)
