"""Names in a namespace -> the graph of what they refer to, by identity."""

import functools
from collections import deque
from collections.abc import Mapping
from itertools import islice
from types import FunctionType, MethodType, ModuleType

from helpers.capture.cpython.objects import class_mapping, instance_dict, pairs, part
from helpers.capture.text.tensors import shown_tensor
from helpers.capture.text.value import SCALARS, detail, label, short_name, type_name
from helpers.model.graph import Edge, Graph, Node
from helpers.safety.arguments import is_a, is_exactly

DEEPEST = 4
MOST_ITEMS = 12
MOST_BOXES = 150


class Numbers:
    """Tells objects apart by identity, over many moments, and keeps none of them alive.

    An object has its number for as long as it is met in every moment. Two objects share one if, in
    between two moments, the first is freed and the second, of the same type, gets its memory.
    """

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
    note: str = "",
    numbers=None,
    cure: str = "run the cell that makes it",
    closed: tuple[type, ...] = (),
) -> Graph:
    """Return the graph of `names` (str) in `namespace`: one box per name, one per object.

    Two names of one object lead to one box. Containers, closures, defaults, partials, bound
    methods, classes and instances of Python classes are followed, `DEEPEST` arrows deep, up to
    `MOST_ITEMS` parts of each and `MOST_BOXES` boxes in all; the note says what was left out.
    `numbers`: a `Numbers` that several moments of one run share, so that an object keeps its key.
    What objects of the `closed` types hold is not followed.
    TypeError for what is no str, NameError for the first name that the namespace does not have,
    with the `cure`.
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
    said = " ".join(filter(None, (note, draft.left_out())))
    return Graph(title, tuple(draft.nodes.values()), tuple(draft.edges), said)


class _Draft:
    """A graph being made; objects are told apart by identity and kept alive meanwhile."""

    def __init__(self, numbers: Numbers, closed: tuple[type, ...]):
        self.nodes, self.edges = {}, []
        self._numbers, self._closed = numbers, closed
        self._alive, self._queue = {}, deque()
        self._parts_left = self._names_left = 0
        self._deeper = self._full = False

    def name(self, name: str, value: object):
        """Add a name and the arrow to what it refers to."""
        key = f"name {name}"
        if len(self.nodes) >= MOST_BOXES:
            self._names_left += 1
        elif key not in self.nodes:
            self.nodes[key] = Node(key, short_name(name), "name")
            self.edges.append(Edge(key, self._object(value, DEEPEST)))

    def follow(self):
        """Add what the objects hold, breadth first."""
        while self._queue:
            key, value, parts, depth = self._queue.popleft()
            if not depth:
                self._deeper |= bool(parts)
                continue
            for words, one in parts:
                if id(one) not in self._alive and len(self.nodes) >= MOST_BOXES:
                    self._full = True
                else:
                    self.edges.append(Edge(key, self._object(one, depth - 1), words))

    def left_out(self) -> str:
        """Return what is not drawn, in sentences; nothing where all is."""
        told = []
        if self._names_left:
            told.append(f"{self._names_left} more names are not drawn: ask for some of them.")
        if self._parts_left:
            told.append(
                f"Of each object the first {MOST_ITEMS} parts are drawn; {self._parts_left:,} more "
                "are left out (give a part a name to see it)."
            )
        if self._full:
            told.append(f"Only the first {MOST_BOXES} boxes are drawn.")
        if self._deeper:
            told.append(f"What lies more than {DEEPEST} arrows from a name is not drawn.")
        return " ".join(told)

    def _object(self, value: object, depth: int) -> str:
        if id(value) in self._alive:
            return self._alive[id(value)][0]
        key = f"object {self._numbers.of(value)}"
        self._alive[id(value)] = (key, value)
        tensor = shown_tensor(value)
        every, count = ([], 0) if tensor or is_a(value, *self._closed) else _parts(value)
        parts = every[:MOST_ITEMS]
        kind = "function" if type(value) is FunctionType else "object"
        if depth:
            self._parts_left += count - len(parts)
            kind = "holder" if parts and kind == "object" else kind
        self.nodes[key] = Node(
            key,
            tensor or label(value),
            kind,
            type_name(value) if tensor else detail(value),
        )
        self._queue.append((key, value, parts, depth))
        return key


def _parts(value: object) -> tuple[list[tuple[str, object]], int]:
    """Return what the object holds, as (how, what), the first of it, and how much there is.

    Nothing of the object's own is called.
    """
    kind = type(value)
    if is_exactly(value, list, tuple):
        return [(f"[{i}]", item) for i, item in enumerate(value[:MOST_ITEMS])], len(value)
    if kind is dict:
        first = islice(pairs(value), MOST_ITEMS)
        return [(f"[{label(key)}]", item) for key, item in first], len(value)
    found = _other_parts(value, kind)
    return found, len(found)


def _other_parts(value: object, kind: type) -> list[tuple[str, object]]:
    if is_exactly(value, staticmethod, classmethod):
        return [("__func__", value.__func__)]
    if kind is functools.partial:
        return [("func", part(functools.partial, "func", value))]
    if kind is MethodType:
        return [("__func__", value.__func__), ("__self__", value.__self__)]
    if kind is FunctionType:
        return _function_parts(value)
    return _attributes(value)


def _function_parts(fn: FunctionType) -> list[tuple[str, object]]:
    free = zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)
    cells = [
        (f"closure {short_name(name)}", cell.cell_contents) for name, cell in free if _is_full(cell)
    ]
    defaults = [
        ("default", value) for value in fn.__defaults__ or () if not is_exactly(value, *SCALARS)
    ]
    inside = instance_dict(fn)
    wrapped = [("__wrapped__", inside["__wrapped__"])] if "__wrapped__" in inside else []
    return cells + defaults + wrapped


def _attributes(value: object) -> list[tuple[str, object]]:
    if is_a(value, type):
        return _class_parts(value)
    home = class_mapping(type(value)).get("__module__", "builtins")
    if is_a(value, ModuleType) or (type(home) is str and home in ("builtins", "numpy")):
        return []
    own = instance_dict(value)
    return [] if own is None else [(_dotted(k), v) for k, v in pairs(own)]


def _class_parts(cls: type) -> list[tuple[str, object]]:
    functions = (FunctionType, staticmethod, classmethod)
    return [(_dotted(k), v) for k, v in class_mapping(cls).items() if type(v) in functions]


def _dotted(name) -> str:
    return f".{short_name(name)}" if type(name) is str else f"[{label(name)}]"


def _is_full(cell) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
