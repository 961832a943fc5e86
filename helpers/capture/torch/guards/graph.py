"""Compiled code that Dynamo keeps for a function -> its guard trees, as a graph or a table."""

from helpers.capture.cpython.objects import named
from helpers.capture.torch.cache_entries import entries
from helpers.capture.torch.guards.text import STATE, clean
from helpers.capture.torch.guards.tree import BETWEEN, children, leaves, own_leaves
from helpers.capture.torch.unwrapping import behind
from helpers.model.graph import Edge, Node
from helpers.model.guards import GuardGraph, guard_listing
from helpers.model.listing import Listing
from helpers.safety.arguments import word


def guard_graph(fn, find: str = "") -> GuardGraph:
    """Return the guard tree of each cache entry of `fn`; `find` points out what has these words.

    LookupError if nothing was compiled for it, or nothing is found; TypeError for no function.
    """
    find, (function, told) = word(find, "find"), behind(fn, compiled=True)
    name, kept = named(function), entries(function.__code__)
    if not kept:
        raise LookupError(
            f"Dynamo keeps no compiled code for {name}(); compile it with torch.compile and call "
            "it first (a call that holds no op of torch leaves none, nor does a function that "
            "torch has to wrap, such as a partial or a module of torch's own)"
        )
    draft = _Draft(name, told)
    for number, entry in enumerate(kept, 1):
        draft.add(number, entry)
    graph = draft.graph()
    return graph.find(find) if find else graph


def guard_table(fn, find: str = "") -> Listing:
    """Return the same guards as a table; with `find`, those only that have these words."""
    return guard_listing(guard_graph(fn), word(find, "find"))


class _Draft:
    """The graph being made: a box per value looked at, and a box per guard on it."""

    def __init__(self, name: str, told=()):
        self._name, self._told, self._nodes, self._edges = name, told, [], []
        self._guards, self._keys = {}, {}

    def add(self, number: int, entry) -> None:
        """Add the tree of one cache entry."""
        self._number, self._entry = number, f"entry {number}"
        root = entry.guard_manager.root
        top = self._box("", f"{self._name}(), entry {number}", "function", "all of this must hold")
        self._branch(top, self._entry, STATE, "object", own_leaves(root))
        for child in children(root):
            self._tree(top, self._entry, child)
        if between := [leaf for leaf in leaves(entry) if leaf.source == BETWEEN]:
            self._branch(top, self._entry, BETWEEN, "name", between)

    def graph(self) -> GuardGraph:
        """Return the graph as it is now."""
        entries, guards = self._number, len(self._guards)
        title = f"Guards of {self._name}(): {entries} {'entries' if entries > 1 else 'entry'}"
        note = " ".join((f"{guards} guards in all.", *self._told))
        return GuardGraph(
            title, tuple(self._nodes), tuple(self._edges), note, guards=tuple(self._guards)
        )

    def _tree(self, parent: str, group: str, manager) -> None:
        source = manager.get_source()
        box, group = self._branch(parent, group, source, "name", own_leaves(manager))
        for child in children(manager):
            self._tree(box, group, child)

    def _branch(self, parent: str, group: str, source: str, kind: str, found) -> tuple[str, str]:
        """Add a box for a value, with a box for each guard on it; return its key and its group."""
        group = f"{group}/{clean(source).replace('/', '|')}"
        box = self._box(source, clean(source), kind, group=group)
        self._edges.append(Edge(parent, box))
        for leaf in found:
            guard = leaf.guard(self._number)
            check = self._box(guard.name, leaf.kind, "guard", guard.checks, guard.checks, group)
            self._guards[guard] = None  # once: one between two values hangs on both
            self._edges.append(Edge(box, check))
        return box, group

    def _box(self, name: str, words: str, kind: str, detail="", op="", group="") -> str:
        key = clean(f"{self._entry} {name}".strip())
        name, number = key, self._keys.get(key, 0)
        while name in self._keys:  # clipped to the same words, or really twice
            number += 1
            name = key + ("′" * number if number < 5 else f"′{number}")
        self._keys[key] = number
        self._keys.setdefault(name, 0)
        self._nodes.append(Node(name, words, kind, detail, group or self._entry, op))
        return name
