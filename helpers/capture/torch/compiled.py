"""What `torch.compile` keeps for a function -> one picture, from the slot to the backend.

The entries hang on the code object, the one tried first in front (torch/csrc/dynamo/extra_state.cpp
and cache_entry.h); the graph and the resume functions are globals that the new code names.
"""

from types import CodeType, FunctionType, MethodType

from helpers.capture.cpython.objects import called, instance_dict, named
from helpers.capture.text.value import plain
from helpers.capture.torch.cache_entries import entries
from helpers.capture.torch.dynamo.text import resumed
from helpers.capture.torch.fx_graph import KINDS, field, fx_nodes
from helpers.capture.torch.guards.tree import leaves
from helpers.capture.torch.unwrapping import behind
from helpers.internals import torch_private
from helpers.mini import frame_hook
from helpers.model.graph import Edge, Graph, Node
from helpers.model.phrase import clipped, counted
from helpers.safety.arguments import is_a

COMPILED, RESUME = "__compiled_fn", "__resume_at"
MOST_ENTRIES, MOST_CALLS = 12, 6


def compiled_graph(fn) -> Graph:
    """Return the way from a call of `fn` to what was compiled for it, as it is at this moment.

    TypeError if there is no Python function behind `fn`. What was never compiled has no entry.
    """
    function, told = behind(fn, compiled=True)
    draft = _Draft(function)
    kept = entries(function.__code__)
    ranks = {id(e): n for n, e in enumerate(torch_private.cache_entries(function.__code__), 1)}
    for number, entry in enumerate(kept[:MOST_ENTRIES], 1):
        draft.add(number, entry, ranks.get(id(entry), 0))
    more = len(kept) - MOST_ENTRIES
    left_out = f" The last {_entries(more)} left out." * (more > 0)
    note = " ".join((f"{_entries(len(kept))} in the cache.{left_out}", *told))
    title = f"What torch.compile keeps for {named(function)}"
    return Graph(title, tuple(draft.nodes), tuple(draft.edges), note, wide=True)


class _Draft:
    """The graph being made."""

    def __init__(self, function: FunctionType):
        self._home, code, slot = function.__globals__, function.__code__, frame_hook.installed()[0]
        self.nodes = [
            Node("call", f"{plain(function.__name__)}(…)", "site", "a call"),
            Node("slot", slot.name, "function", f"in the slot now: {slot.owner}"),
            Node("code", f"code of {plain(code.co_name)}", "code", f"__code__: {_units(code)}"),
        ]
        self.edges = [
            Edge("call", "slot", "its frame goes to"),
            Edge("slot", "code", "asks for entries" if slot.owner == "torch" else "runs"),
        ]

    def add(self, number: int, entry, rank: int) -> None:
        """Add one cache entry: its guards, its code, and what that calls."""
        key, guards = f"entry {number}", len(leaves(entry))
        self._box("code", key, key, "entry", f"tried as number {rank}", "keeps")
        self._box(key, f"{key} guards", counted(guards, "guard"), "guard", "in C++", "asks")
        code = f"{key} code"
        self._box(key, code, "new code", "code", _units(entry.code), "if all hold, runs")
        for name in entry.code.co_names:
            if name.startswith(COMPILED):
                self._graph(key, code, entry.backend, self._home.get(name))
            elif name.startswith(RESUME):
                self._resume(code, f"{key} {len(self.nodes)}", self._home.get(name))

    def _graph(self, key: str, code: str, backend, compiled) -> None:
        made, words = f"{key} graph", _backend(backend)
        self._box(code, made, "what the backend made", "call", _calls(compiled), "calls")
        if all(node.key != f"backend {words}" for node in self.nodes):
            self.nodes.append(Node(f"backend {words}", words, "function", "the backend"))
        self.edges.append(Edge(made, f"backend {words}", "made by"))

    def _resume(self, code: str, key: str, function) -> None:
        if type(function) is not FunctionType:
            return
        name, _ = resumed(function.__code__.co_name)
        own = f"{_entries(len(entries(function.__code__)))} of its own"
        self._box(code, f"{key} resumed", f"{plain(name)}, resumed", "function", own, "then calls")

    def _box(self, source: str, key: str, label: str, kind: str, detail: str, words: str) -> None:
        self.nodes.append(Node(key, label, kind, detail))
        self.edges.append(Edge(source, key, words))


def _entries(number: int) -> str:
    return f"{number} {'entry' if number == 1 else 'entries'}"


def _units(code: CodeType) -> str:
    return counted(len(code.co_code) // 2, "code unit")


def _calls(compiled) -> str:
    """Return the calls of the FX graph that a backend gave back as it was; else that it is none."""
    import torch

    inner = torch_private.inner_function(compiled)
    module = inner.__self__ if type(inner) is MethodType else inner
    if not is_a(module, torch.fx.GraphModule):
        return "no FX graph any more"
    nodes = [node for node in fx_nodes(module) if field(node, "op") not in KINDS]
    names = [str(field(node, "name")) for node in nodes]
    more = f", … {len(names) - MOST_CALLS} more" if len(names) > MOST_CALLS else ""
    return clipped(f"the FX graph: {', '.join(names[:MOST_CALLS])}{more}", 80)


def _backend(backend) -> str:
    """Return the name of the function that `torch.compile` was given as its backend."""
    inside = instance_dict(backend) or {}
    return plain(called(inside.get("compiler_fn", backend)))
