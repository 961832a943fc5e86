"""A cache entry of Dynamo's -> a list of its guards, in the order in which torch checks them.

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

    def to_record(self, entry_number: int) -> Guard:
        """Return this guard, of cache entry `entry_number`, as a record of the model."""
        return Guard(
            entry=entry_number,
            source=self._format_source(),
            kind=self.kind,
            checks=self._describe(),
            line=find_users_line(self.parts),
        )

    def _format_source(self) -> str:
        """Return what the guard looks at, as a table shows it: `L['x']`, or a text in brackets."""
        if self.kind == "NO_TENSOR_ALIASING":  # it compares several tensors
            return BETWEEN_VALUES
        # Torch attaches guards on its own settings to the root, whose source `L` means all locals.
        if self.source == "L":
            return STATE_OF_TORCH
        return remove_ids(self.source)

    def _describe(self) -> str:
        """Return what must hold in plain words, such as `it equals 2`."""
        if self.source == BETWEEN_VALUES:
            checks = [strip_remarks(part) for part in self.parts]
            return format_source("; ".join(checks))
        return describe_guard(self.kind, self.parts)


def list_leaf_guards(entry) -> list[LeafGuard]:
    """Return all guards of a cache entry, in the order in which torch checks them."""
    root = entry.guard_manager.root
    leaves = [leaf for node in walk_nodes(root) for leaf in list_leaves_of_node(node)]
    # Torch checks these after the tree. Each one is about several values: whether two values are
    # the same object, or how sizes are related.
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
        if parts:  # a guard without a text cannot be shown
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
    """Return the nodes directly below a node of the guard tree.

    Torch's node for a dict has the nodes of its keys and values in a separate table.
    """
    children = list(node.get_child_managers())
    if is_of_dict(node):
        for key_node, value_node in node.get_key_value_managers().values():
            children += [key_node, value_node]
    # In that table, None stands for a key or a value without guards.
    return [child for child in children if child is not None]


def is_of_dict(node) -> bool:
    """Return whether `node` is torch's node for a dict whose keys are guarded in their order.

    Such a node also checks the type and the length of the dict, without leaf guards for them.
    """
    return hasattr(node, "get_key_value_managers")


def evaluate_part(part: str, scope: dict):
    """Return the value of a torch expression for a call, such as that of `L['n'] == 2`.

    Parameters
    ----------
    part : str
        A part of a guard, such as `L['n'] == 2  # return x * n`, whose remarks are removed. It may
        also be a source, such as `L['x']`.
    scope : dict
        The locals and the globals of the call under `L` and `G`.

    Returns
    -------
    object
        MISSING if there is no such value, or if the user's code would have to run to compute it.
    """
    return evaluate_source(strip_remarks(part), scope)
