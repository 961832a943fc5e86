"""Compiled code that Dynamo keeps for a function -> its guard trees, and which guard a call fails.

The trees are torch's own (torch/csrc/dynamo/guards.cpp, built by torch/_dynamo/guards.py), and so
is every judgement here: `check_verbose` of the tree, or the call of one guard.
"""

import ast
import functools
import inspect
import re
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType

from helpers.capture.brief import brief
from helpers.capture.guard_words import STATE, check_of, clean, line_of, meaning, plain_source
from helpers.capture.words import label, type_name
from helpers.mini.dynamo import torch_private
from helpers.model.graph import Edge, Node
from helpers.model.guards import Failure, Guard, GuardGraph, guard_listing
from helpers.model.listing import Listing

MISSING = object()
BETWEEN = "(between values)"
MISMATCH = re.compile(r"tensor '(.*?)' (.*)")
SIZE = re.compile(r"L\[[^]]*\]\.(?:size|stride)\(\)\[\d+\]")
DUPLICATE = "Duplicate tensor"
SIZED = (list, tuple, dict, str, set)


def python_function(fn) -> FunctionType:
    """Return the Python function behind a compiled or watched one. TypeError if there is none."""
    for _ in range(10):
        inner = next(filter(None, (_attribute(fn, name) for name in _INSIDE)), None)
        if inner is None:
            break
        fn = inner
    if type(fn) is not FunctionType:
        raise TypeError(
            f"a Python function is needed, or what torch.compile made of one, not {label(fn)}; "
            "of a module, give its forward"
        )
    return fn


_INSIDE = ("_torchdynamo_orig_callable", "compiled_function", "__func__")


def _attribute(fn, name):
    if type(fn) is FunctionType:
        return fn.__dict__.get(name)
    try:
        return getattr(fn, name, None)
    except Exception:
        return None


def guard_graph(fn, find: str = "") -> GuardGraph:
    """Return the guard tree of each cache entry of `fn`; `find` points out what has these words.

    LookupError if nothing was compiled for it, or nothing is found; TypeError for no function.
    """
    function = python_function(fn)
    kept = entries(function.__code__)
    if not kept:
        raise LookupError(
            f"Dynamo keeps no compiled code for {function.__name__}(); "
            "compile it with torch.compile and call it first"
        )
    draft = _Draft(function.__name__)
    for number, entry in enumerate(kept, 1):
        draft.add(number, entry)
    graph = draft.graph()
    return graph.find(find) if find else graph


def guard_table(fn, find: str = "") -> Listing:
    """Return the same guards as a table; with `find`, those only that have these words."""
    return guard_listing(guard_graph(fn), find)


def entries(code: CodeType) -> list:
    """Return the live cache entries of a code object, in the order in which they were compiled."""
    live = [e for e in torch_private.cache_entries(code) if hasattr(e.guard_manager, "root")]
    return sorted(live, key=lambda entry: _compiled_as(entry.compile_id))


def _compiled_as(compile_id) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", str(compile_id)))


def frame_locals(fn, args, kwargs) -> dict:
    """Return what a frame of `fn` would see as its locals at the start: arguments, closure."""
    bound = inspect.signature(fn).bind(*args, **kwargs)
    bound.apply_defaults()
    seen = dict(bound.arguments)
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        try:
            seen[name] = cell.cell_contents
        except ValueError:
            continue
    return seen


def accepts(entry, seen: dict) -> bool:
    """Return whether a cache entry's guards all hold for these locals, as torch says."""
    return bool(entry.guard_manager.root.check(seen))


def failure(number: int, entry, fn, seen: dict) -> Failure | None:
    """Return the guard that these locals fail first, as torch says, or None if all hold."""
    told = entry.guard_manager.root.check_verbose(seen)
    if told.result:
        return None
    scope = {"L": seen, "G": fn.__globals__}
    part = _broken_part(list(told.verbose_code_parts), scope)
    if found := MISMATCH.match(part):
        source = plain_source(f"L['{found[1]}']" if found[1].isidentifier() else found[1])
        return Failure(number, source, "TENSOR_MATCH", clean(found[2]))
    for leaf in leaves(entry):
        if part in leaf.parts or (leaf.kind == "NO_TENSOR_ALIASING" and DUPLICATE in part):
            return _failure(number, leaf, part, scope)
    return Failure(number, "", "", plain_source(check_of(part)))


def _broken_part(parts, scope) -> str:
    """Return the part that does not hold; torch gives all parts of a guard between values."""
    for part in parts if len(parts) > 1 else ():
        if _asked(part, scope) is False:
            return part
    return parts[0] if parts else "a guard that torch does not name"


def _asked(part: str, scope):
    """Return what torch's own expression gives for these values, or None if it cannot be asked."""
    try:
        return eval(check_of(part), {}, scope)
    except Exception:
        return None


def _failure(number, leaf, part, scope) -> Failure:
    guard = leaf.guard(number)
    if leaf.kind == "NO_TENSOR_ALIASING":
        return Failure(number, "", leaf.kind, guard.checks, "two of them are one tensor")
    if leaf.source == BETWEEN:
        sizes = dict.fromkeys(SIZE.findall(check_of(part)))
        value = ", ".join(f"{plain_source(size)} is {_asked(size, scope)}" for size in sizes)
        return Failure(number, "", leaf.kind, plain_source(check_of(part)), value)
    if leaf.source == "L":
        return Failure(number, "", leaf.kind, guard.checks)
    value = _value_words(leaf.kind, resolve(leaf.source, scope))
    return Failure(number, plain_source(leaf.source), leaf.kind, guard.checks, value)


def _value_words(kind: str, value) -> str:
    if value is MISSING:
        return ""
    if kind == "TYPE_MATCH":
        return f"of type {type_name(value)}"
    if kind in ("LENGTH_CHECK", "DICT_LENGTH"):
        return f"of length {len(value)}" if type(value) in SIZED else ""
    if kind == "DIMENSION_DYNAMIC_MARKING_GUARD":
        return "marked otherwise"
    return "another object" if kind == "ID_MATCH" else brief(value)


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


class _Draft:
    """The graph being made: a box per value looked at, and a box per guard on it."""

    def __init__(self, name: str):
        self._name, self._nodes, self._edges, self._guards = name, [], [], []
        self._keys = set()

    def add(self, number: int, entry) -> None:
        """Add the tree of one cache entry."""
        self._number, self._entry = number, f"entry {number}"
        root = entry.guard_manager.root
        top = self._box("", f"{self._name}(), entry {number}", "call", "all of this must hold")
        state = self._box(STATE, STATE, "constant")
        self._edges.append(Edge(top, state))
        self._leaves(state, own_leaves(root))
        for child in children(root):
            self._tree(top, child)
        if between := [leaf for leaf in leaves(entry) if leaf.source == BETWEEN]:
            box = self._box(BETWEEN, BETWEEN, "input")
            self._edges.append(Edge(top, box))
            self._leaves(box, between)

    def graph(self) -> GuardGraph:
        """Return the graph as it is now."""
        entries, guards = self._number, len(self._guards)
        title = f"Guards of {self._name}(): {entries} {'entries' if entries > 1 else 'entry'}"
        note = f"{guards} guards in all."
        return GuardGraph(
            title, tuple(self._nodes), tuple(self._edges), note, (), tuple(self._guards)
        )

    def _tree(self, parent: str, manager) -> None:
        source = manager.get_source()
        box = self._box(source, clean(source), "input")
        self._edges.append(Edge(parent, box))
        self._leaves(box, own_leaves(manager))
        for child in children(manager):
            self._tree(box, child)

    def _leaves(self, parent: str, found) -> None:
        for leaf in found:
            guard = leaf.guard(self._number)
            box = self._box(guard.name, leaf.kind, "object", guard.checks, guard.checks)
            self._guards.append(guard)
            self._edges.append(Edge(parent, box))

    def _box(self, name: str, words: str, kind: str, detail="", op="") -> str:
        key = clean(f"{self._entry} {name}".strip())
        while key in self._keys:
            key += "′"
        self._keys.add(key)
        self._nodes.append(Node(key, words, kind, detail, self._entry, op))
        return key


def copied(fn):
    """Return a function or a method as a copy with a code object of its own: an empty cache."""
    if type(fn) is MethodType:
        return MethodType(copied(fn.__func__), fn.__self__)
    code = fn.__code__.replace()
    made = FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    made.__kwdefaults__ = fn.__kwdefaults__
    return functools.update_wrapper(made, fn, updated=())
