"""Names in a namespace -> the graph of what they refer to, by identity."""

import functools
from collections import deque
from collections.abc import Mapping
from itertools import islice
from types import CellType, FunctionType, MethodType, ModuleType

from helpers.capture.cpython.objects import instance_dict
from helpers.capture.text.tensors import shown_tensor
from helpers.capture.text.value import SCALARS, detail, label, short_name, type_name
from helpers.model.graphs import Edge, Graph, Node
from helpers.safety.arguments import is_exactly, real_isinstance

DEEPEST = 4
MOST_ITEMS = 12
MOST_BOXES = 150


class Numbers:
    """Tells objects apart by identity, over many moments, and keeps none of them alive."""

    def __init__(self):
        self._count = 0
        self._before: dict[int, tuple[type, int]] = {}
        self._now: dict[int, tuple[type, int]] = {}

    def next_moment(self):
        """Begin another moment: whoever calls keeps what it meets in it alive until the next."""
        self._before, self._now = self._now, {}

    def of(self, value: object) -> int:
        """Return the number of an object, from 1."""
        known = self._now.get(id(value)) or self._before.get(id(value))
        if known is None or known[0] is not type(value):
            self._count += 1
            known = type(value), self._count
        self._now[id(value)] = known
        return known[1]


def names_graph(
    namespace: Mapping[str, object],
    names,
    title: str = "",
    numbers=None,
    cure: str = "run the cell that makes it",
    closed: tuple[type, ...] = (),
) -> Graph:
    """Return the graph of `names` (str) in `namespace`: one box per name, one per object.

    `numbers`: shared by the moments of one run, so that an object keeps its key. What objects of
    the `closed` types hold is not followed.
    """
    for name in names:
        if type(name) is not str:
            raise TypeError(f"give the names as str, such as 'a'; {label(name)} is none")
        if name not in namespace:
            raise NameError(f"there is no name {label(name)} here yet; {cure}")
    draft = _Draft(numbers or Numbers(), closed)
    for name in names:
        draft.name(name, namespace[name])
    draft.follow()
    return Graph(title, tuple(draft.nodes.values()), tuple(draft.edges), draft.left_out())


class _Draft:
    """A graph being made; objects are told apart by identity and kept alive meanwhile."""

    def __init__(self, numbers: Numbers, closed: tuple[type, ...]):
        self.nodes, self.edges = {}, []
        self._numbers, self._closed = numbers, closed
        self._alive, self._queue = {}, deque()
        self._parts_left, self._deeper, self._full = 0, False, False

    def name(self, name: str, value: object):
        """Add a name and the arrow to what it refers to."""
        key = f"name {name}"
        if len(self.nodes) >= MOST_BOXES:
            self._full = True
        elif key not in self.nodes:
            self.nodes[key] = Node(key, short_name(name), "name")
            self.edges.append(Edge(key, self._object(value, DEEPEST)))

    def follow(self):
        """Add what the objects hold, breadth first."""
        while self._queue:
            key, parts, depth = self._queue.popleft()
            for words, one in parts if depth else ():
                if id(one) not in self._alive and len(self.nodes) >= MOST_BOXES:
                    self._full = True
                else:
                    self.edges.append(Edge(key, self._object(one, depth - 1), words))
            self._deeper |= bool(parts) and not depth

    def left_out(self) -> str:
        """Return what is not drawn, in sentences; nothing where all is."""
        more = (
            f"Of each object the first {MOST_ITEMS} parts are drawn; {self._parts_left:,} more "
            "are left out (give a part a name to see it)."
        )
        full = f"Only the first {MOST_BOXES} boxes are drawn."
        deeper = f"What lies more than {DEEPEST} arrows from a name is not drawn."
        told = ((self._parts_left, more), (self._full, full), (self._deeper, deeper))
        return " ".join(words for is_so, words in told if is_so)

    def _object(self, value: object, depth: int) -> str:
        if id(value) in self._alive:
            return self._alive[id(value)][0]
        key = f"object {self._numbers.of(value)}"
        self._alive[id(value)] = (key, value)
        tensor = shown_tensor(value)
        every, count = (
            ([], 0) if tensor or real_isinstance(value, *self._closed) else _find_parts(value)
        )
        parts = every[:MOST_ITEMS]
        kind = "function" if type(value) is FunctionType else "object"
        if depth:
            self._parts_left += count - len(parts)
            kind = "holder" if parts and kind == "object" else kind
        second = type_name(value) if tensor else detail(value)
        self.nodes[key] = Node(key, tensor or label(value), kind, second)
        self._queue.append((key, parts, depth))
        return key


def _find_parts(value: object) -> tuple[list[tuple[str, object]], int]:
    """Return what the object holds, as (how, what), the first of it, and how much there is."""
    kind = type(value)
    if is_exactly(value, list, tuple):
        return [(f"[{i}]", item) for i, item in enumerate(value[:MOST_ITEMS])], len(value)
    if kind is dict:
        first = islice(list(value.items()), MOST_ITEMS)
        return [(f"[{label(key)}]", item) for key, item in first], len(value)
    if is_exactly(value, staticmethod, classmethod):
        found = [("__func__", value.__func__)]
    elif kind is functools.partial:
        found = [("func", value.func)]
    elif kind is MethodType:
        found = [("__func__", value.__func__), ("__self__", value.__self__)]
    elif kind is FunctionType:
        found = _function_parts(value)
    else:
        found = [(_dotted(name), one) for name, one in _attributes(value)]
    return found, len(found)


def _function_parts(fn: FunctionType) -> list[tuple[str, object]]:
    free = zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)
    cells = [(f"closure {short_name(n)}", c.cell_contents) for n, c in free if c != CellType()]
    objects = (value for value in fn.__defaults__ or () if not is_exactly(value, *SCALARS))
    wrapped = [(n, value) for n, value in vars(fn).items() if n == "__wrapped__"]
    return cells + [("default", value) for value in objects] + wrapped


def _attributes(value: object) -> list[tuple[str, object]]:
    if real_isinstance(value, type):
        functions = (FunctionType, staticmethod, classmethod)
        return [(k, v) for k, v in vars(value).items() if type(v) in functions]
    home = vars(type(value)).get("__module__", "builtins")
    followed = not real_isinstance(value, ModuleType) and home not in ("builtins", "numpy")
    return list((instance_dict(value) or {}).items()) if followed else []


def _dotted(name) -> str:
    return f".{short_name(name)}" if type(name) is str else f"[{label(name)}]"
