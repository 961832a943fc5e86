"""A cache entry -> its guards: every leaf of the tree that torch checks, in its order.

The tree is torch's own (torch/csrc/dynamo/guards.cpp, built by torch/_dynamo/guards.py).
"""

import ast
from dataclasses import dataclass

from helpers.capture.text.value import type_name
from helpers.capture.torch.guards.text import STATE, check_of, clean, line_of, meaning, plain_source
from helpers.model.guards import Guard

MISSING = object()
BETWEEN = "(between values)"


@dataclass(frozen=True)
class Leaf:
    """One live guard: what it looks at, torch's texts for it, and how deep in the tree it hangs."""

    source: str
    kind: str
    parts: tuple[str, ...]
    check: object

    def guard(self, number: int) -> Guard:
        """Return this guard of entry `number` as a record."""
        shown = STATE if self.source == "L" else clean(self.source)
        words = meaning(self.kind, self.source, self.parts)
        if self.kind == "NO_TENSOR_ALIASING":
            shown = BETWEEN
        if self.source == BETWEEN:
            words = plain_source("; ".join(map(check_of, self.parts)))
        return Guard(number, shown, self.kind, words, line_of(self.parts))


def leaves(entry) -> list[Leaf]:
    """Return all guards of a cache entry, in the order in which torch checks them."""
    root = entry.guard_manager.root
    found = [leaf for manager in managers(root) for leaf in own_leaves(manager)]
    return found + [
        Leaf(BETWEEN, _between(guard), tuple(guard.verbose_code_parts()), guard)
        for guard in root.get_epilogue_lambda_guards()
    ]


def _between(guard) -> str:
    alike = " is " in check_of(guard.verbose_code_parts()[0])
    return "OBJECT_ALIASING" if alike else "SHAPE_ENV"


def own_leaves(manager) -> list[Leaf]:
    """Return the guards that hang on one node of the tree."""
    return [
        Leaf(manager.get_source(), type_name(guard), tuple(guard.verbose_code_parts()), guard)
        for guard in manager.get_leaf_guards()
        if guard.verbose_code_parts()
    ]


def managers(manager):
    """Yield a node of the guard tree and all below it, parents first."""
    yield manager
    for child in children(manager):
        yield from managers(child)


def children(manager) -> list:
    """Return the nodes below one node; those on a dict's keys and values are among them."""
    below = list(manager.get_child_managers())
    pairs = getattr(manager, "get_key_value_managers", dict)()
    return below + [part for pair in pairs.values() for part in pair if part is not None]


def resolve(source: str, scope):
    """Return the value that a source such as `L['x']` or `G['m'].n` names, or MISSING.

    Only dicts, lists, tuples and what stands in an object's own `__dict__` are looked into.
    """
    try:
        return _resolved(ast.parse(source.strip(), mode="eval").body, scope)
    except Exception:
        return MISSING


def _resolved(node, scope):
    if isinstance(node, ast.Name):
        return scope[node.id]
    inside = _resolved(node.value, scope)
    if isinstance(node, ast.Attribute):
        own = object.__getattribute__(inside, "__dict__")
        return own if node.attr == "__dict__" else own[node.attr]
    if not isinstance(inside, (dict, list, tuple)):
        raise LookupError
    base = next(kind for kind in (dict, list, tuple) if isinstance(inside, kind))
    return base.__getitem__(inside, ast.literal_eval(node.slice))
