"""Compiled code that Dynamo keeps for a function -> its guards: tree, plain words, failures.

The tree is torch's own (torch/csrc/dynamo/guards.cpp, built by torch/_dynamo/guards.py). Torch
writes a guard as `check  # the line it is for  # its place`; here are plain words, with no id,
address or path in them. Every judgement is torch's: `check_verbose` of the whole tree, or the call
of one guard.
"""

import ast
import re
from dataclasses import dataclass

from helpers.capture.cpython.objects import named
from helpers.capture.text.value import brief, type_name
from helpers.capture.torch.cache_entries import behind, entries
from helpers.capture.torch.dynamo_words import IMPORTED, same, source_words
from helpers.model.graph import Edge, Node
from helpers.model.guards import Failure, Guard, GuardGraph, guard_listing
from helpers.model.listing import Listing
from helpers.model.phrase import clipped
from helpers.safety.arguments import is_exactly, word

MISSING = object()
BETWEEN, STATE = "(between values)", "(the state of torch)"
LONGEST = 160
SIZED = (list, tuple, dict, str, set)
TENSOR = re.compile(
    r"check_tensor\(.+?, (\w+), DispatchKeySet\(.*?\), torch\.(\w+), device=\w+, "
    r"requires_grad=(\w+), size=\[(.*?)\], stride=\[(.*?)\]\)"
)
CLASS = re.compile(r"type=<class '(?:[\w<>]+\.)*([\w<>]+)'>")
ALIASING = re.compile(r"check_no_aliasing\((.*)\)")
KEY = re.compile(r"___\w*contains\((.+?), ")
AMBIENT = {
    "GLOBAL_STATE": "torch's settings (grad mode, …) are as they were",
    "TORCH_FUNCTION_MODE_STACK": "the same function modes are on",
    "DEFAULT_DEVICE": "the default device is the same",
    "AUTOGRAD_SAVED_TENSORS_HOOKS": "the same hooks on saved tensors are on",
}
MISMATCH = re.compile(r"tensor '(.*?)' (.*)")
SIZE = re.compile(r"L\[[^]]*\]\.(?:size|stride)\(\)\[\d+\]")


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
        self._guards, self._keys = {}, set()

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
        while key in self._keys:  # clipped to the same words, or really twice
            key += "′"
        self._keys.add(key)
        self._nodes.append(Node(key, words, kind, detail, group or self._entry, op))
        return key


# ------------------------------------------------------------------ the tree


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


# ------------------------------------------------------------------ what a call fails


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
    known = leaves(entry)
    written = (leaf for leaf in known if part in leaf.parts)
    asked = (leaf for leaf in known if _fails(leaf, scope, part))
    leaf = next(written, None) or next(asked, None)
    if leaf is None:
        return Failure(number, "", "", plain_source(check_of(part)))
    return _failure(number, leaf, part, scope)


def reason_words(reason: str) -> str:
    """Return in plain words why torch says that it compiled a frame once more."""
    part = re.sub(r"^\d+/\d+: ", "", reason).split("\n")[0]
    if found := MISMATCH.match(part):
        return f"{plain_source(found[1])}: {clean(found[2])}"
    return f"no longer {source_words(check_of(part))}"


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
        value = (
            f"{clean(part).partition(': ')[2]} has changed"
            if "GLOBAL_STATE changed: " in part
            else ""
        )
        return Failure(number, "", leaf.kind, guard.checks, value)
    value = _value_words(leaf.kind, resolve(leaf.source, scope))
    return Failure(number, plain_source(leaf.source), leaf.kind, guard.checks, value)


def _value_words(kind: str, value) -> str:
    if value is MISSING:
        return ""
    if kind in ("LENGTH_CHECK", "DICT_LENGTH"):
        return f"of length {len(value)}" if is_exactly(value, *SIZED) else ""
    if kind in ("TYPE_MATCH", "TENSOR_MATCH"):
        return f"of type {type_name(value)}"
    known = {"DIMENSION_DYNAMIC_MARKING_GUARD": "marked otherwise", "ID_MATCH": "another object"}
    return known.get(kind) or brief(value)


def all_failures(number: int, entry, fn, seen: dict) -> tuple[Guard, ...]:
    """Return every guard that these locals fail, each asked alone; torch stops at the first.

    What cannot be reached (a key that is gone) is not asked: the guard above it fails.
    """
    scope = {"L": seen, "G": fn.__globals__}
    told = entry.guard_manager.root.check_verbose(seen)
    if told.result:
        return ()
    part = " ".join(told.verbose_code_parts)
    broken = [leaf.guard(number) for leaf in leaves(entry) if _fails(leaf, scope, part)]
    return tuple(dict.fromkeys(broken))


def _fails(leaf, scope, part: str) -> bool:
    if leaf.kind == "NO_TENSOR_ALIASING":
        return "Duplicate tensor" in part  # has a state of its own, so only the whole tree can tell
    value = scope["L"] if leaf.source in ("L", BETWEEN) else resolve(leaf.source, scope)
    try:
        return value is not MISSING and not leaf.check(value)
    except Exception:
        return False


# ------------------------------------------------------------------ plain words


def clean(words: str) -> str:
    """Return words without ids, addresses, uuids, and with torch's made-up globals by name."""
    words = IMPORTED.sub(lambda found: found[1].replace("_dot_", "."), same(words))
    words = " ".join(words.replace("G['builtins']", "builtins").split())
    return clipped(words, LONGEST)


def check_of(part: str) -> str:
    """Return the check itself, without the remarks that torch writes behind it."""
    return part.split("  # ")[0].strip()


def line_of(parts) -> str:
    """Return the line of the learner's source that a guard was taken for, or nothing."""
    remarks = [remark.strip() for remark in (parts[0].split("  # ")[1:] if parts else [])]
    own = len(remarks) > 1 and not remarks[-1].startswith("torch")
    return clean(remarks[0]) if own and "_dynamo/" not in remarks[0] else ""


def meaning(kind: str, source: str, parts) -> str:
    """Return in plain words what must hold; torch's own words for a kind that is not known."""
    checks = [check_of(part) for part in parts]
    if kind in AMBIENT:
        return AMBIENT[kind]
    if "saved_tensors_hooks" in checks[0]:
        return AMBIENT["AUTOGRAD_SAVED_TENSORS_HOOKS"]
    words = _WORDS.get(kind, lambda checks, source: "")(checks, source)
    return words or clean("; ".join(checks))


def plain_source(source: str) -> str:
    """Return a source as the function itself names the value: `x`, `options['on']`, `global K`."""
    words = re.sub(r"L\['(\w+)'\]", r"\1", clean(source))
    return re.sub(r"G\['(\w+)'\]", r"global \1", words)


def _tensor(checks, source) -> str:
    found = TENSOR.match(checks[0])
    if not found:
        return ""
    kind, dtype, grad, size, stride = found.groups()
    sizes, strides = (part.replace("None", "any") for part in (size, stride))
    needs = "requires grad" if grad == "True" else "no grad"
    return f"{kind} {dtype} [{sizes}], stride [{strides}], {needs}"


def _type(checks, source) -> str:
    found = CLASS.search(checks[0])
    return f"its type is {found[1]} itself" if found else ""


def _equals(checks, source) -> str:
    _, found, value = checks[0].partition(f"{source} == ")
    return f"it equals {clean(value)}" if found else ""


def _length(checks, source) -> str:
    _, found, length = checks[0].partition(f"len({source}) == ")
    return f"its length is {length}" if found else ""


def _is(words: str):
    return lambda checks, source: f"it is {words}"


def _marks(checks, source) -> str:
    unmarked = all(check.endswith("== False") for check in checks)
    return (
        "none of its sizes is marked dynamic or static" if unmarked else "its sizes are so marked"
    )


def _aliasing(checks, source) -> str:
    found = ALIASING.match(checks[0])
    return f"{plain_source(found[1])} are different objects" if found else ""


def _key(checks, source) -> str:
    found = KEY.search(checks[0])
    return f"it has {'no ' * checks[0].startswith('not ')}key {found[1]}" if found else ""


_WORDS = {
    "TENSOR_MATCH": _tensor,
    "TYPE_MATCH": _type,
    "ID_MATCH": _is("the very same object"),
    "EQUALS_MATCH": _equals,
    "LENGTH_CHECK": _length,
    "DICT_LENGTH": _length,
    "TRUE_MATCH": _is("True"),
    "FALSE_MATCH": _is("False"),
    "NONE_MATCH": _is("None"),
    "DIMENSION_DYNAMIC_MARKING_GUARD": _marks,
    "NO_TENSOR_ALIASING": _aliasing,
    "DICT_CONTAINS": _key,
}
