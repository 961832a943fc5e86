"""A cache entry -> its guards, one by one, in the order in which torch checks them.

Torch keeps the guards of an entry as a tree (torch/csrc/dynamo/guards.cpp). A node, which torch
calls a guard manager, stands for one value of a call, such as `L['x']`. The guards on this value
are the leaves of the node. Guards between several values come last, behind the tree.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ...model.guard_records import Guard
from ...safety.arguments import real_type_name
from .guard_words import (
    BETWEEN_VALUES,
    STATE_OF_TORCH,
    describe_guard,
    find_users_line,
    format_source,
    remove_ids,
    strip_remarks,
)
from .source_values import evaluate_source


@dataclass(frozen=True)
class LeafGuard:
    """One live guard of a cache entry."""

    #: what it looks at, as torch writes it: `L['x']`; `BETWEEN_VALUES` for several values
    source: str
    #: torch's name for the kind of guard, such as `TENSOR_MATCH`
    kind: str
    #: torch's texts for it; each is a check with remarks on where it comes from
    parts: tuple[str, ...]
    #: torch's object in C++; called with the value, it returns whether the guard holds
    check: object

    def to_record(self, number: int) -> Guard:
        """Return this guard, of cache entry `number`, as a record of the model."""
        return Guard(
            entry=number,
            source=self._format_source(),
            kind=self.kind,
            checks=self._describe(),
            line=find_users_line(self.parts),
        )

    def _format_source(self) -> str:
        """Return what the guard looks at, for a table."""
        if self.kind == "NO_TENSOR_ALIASING":
            return BETWEEN_VALUES
        if self.source == "L":  # all locals: such a guard looks at none of them
            return STATE_OF_TORCH
        return remove_ids(self.source)

    def _describe(self) -> str:
        """Return what must hold, in plain words."""
        if self.source == BETWEEN_VALUES:
            checks = [strip_remarks(part) for part in self.parts]
            return format_source("; ".join(checks))
        return describe_guard(self.kind, self.parts)


def list_leaf_guards(entry) -> list[LeafGuard]:
    """Return all guards of a cache entry, in the order in which torch checks them."""
    root = entry.guard_manager.root
    leaves = [leaf for node in walk_nodes(root) for leaf in list_leaves_of_node(node)]
    # The guards behind the tree: whether two values are one object, or how sizes are related.
    for guard in root.get_epilogue_lambda_guards():
        parts = tuple(guard.verbose_code_parts())
        is_identity = " is " in strip_remarks(parts[0])
        kind = "OBJECT_ALIASING" if is_identity else "SHAPE_ENV"
        leaves.append(LeafGuard(source=BETWEEN_VALUES, kind=kind, parts=parts, check=guard))
    return leaves


def list_leaves_of_node(node) -> list[LeafGuard]:
    """Return the guards on the value of one node of the tree."""
    leaves = []
    for guard in node.get_leaf_guards():
        parts = tuple(guard.verbose_code_parts())
        if parts:
            leaf = LeafGuard(
                source=node.get_source(), kind=real_type_name(guard), parts=parts, check=guard
            )
            leaves.append(leaf)
    return leaves


def walk_nodes(node) -> Iterator:
    """Yield a node of the guard tree and all nodes below it, parents first."""
    yield node
    for child in list_children(node):
        yield from walk_nodes(child)


def list_children(node) -> list:
    """Return the nodes below a node; for a dict, those of its keys and values are among them."""
    children = list(node.get_child_managers())
    if is_of_dict(node):
        for key_node, value_node in node.get_key_value_managers().values():
            children += [key_node, value_node]
    # A key or a value that has no guard has None here.
    return [child for child in children if child is not None]


def is_of_dict(node) -> bool:
    """Return whether this is torch's node for a dict whose keys are guarded in their order."""
    return hasattr(node, "get_key_value_managers")


def evaluate_part(part: str, scope: dict):
    """Return the value of a part of a guard, or of a source; its remarks count for nothing.

    `scope` has the locals and the globals of a call under `L` and `G`. MISSING is returned if only
    the user's code could tell the value.
    """
    return evaluate_source(strip_remarks(part), scope)
