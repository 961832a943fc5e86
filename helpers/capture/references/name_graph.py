"""Names in a namespace -> the graph of what they refer to, by identity."""

import functools
from collections import deque
from collections.abc import Callable, Mapping
from itertools import count, islice
from types import CellType, FrameType, FunctionType, MethodType, ModuleType

from ...internals.interpreter_frame import local_variables
from ...model.graphs import Edge, Graph, Node
from ...safety.arguments import is_exactly, real_isinstance
from ..cpython.objects import instance_dict
from ..text.tensors import shown_tensor
from ..text.value import SCALARS, detail, label, library_value, short_name, type_name

DEEPEST = 4
MOST_ITEMS = 12
MOST_BOXES = 150
MOST_SORTED = 1_000  # members of a set, whose order is another one in each process


class Numbers:
    """Tells objects apart by identity, over many moments, and keeps none of them alive."""

    def __init__(self):
        self._next, self._before, self._now = count(1).__next__, {}, {}

    def next_moment(self):
        """Begin another moment: the caller keeps what it meets in it alive until the next."""
        self._before, self._now = self._now, {}

    def of(self, value: object) -> int:
        """Return the number of an object, from 1."""
        known = self._now.get(id(value)) or self._before.get(id(value))
        if known is None or known[0] is not type(value):
            known = type(value), self._next()
        self._now[id(value)] = known
        return known[1]


def names_graph_of_frame(frame: FrameType, names) -> Graph:
    """Return the graph of what `names` refer to in a frame: its variables, then its globals."""
    if not names:
        raise TypeError('show_names needs the names to draw, such as show_names("a", "b")')

    variables = local_variables(frame)
    cure = "run the cell that makes it"
    if variables is not frame.f_globals:
        cure = "make it first; a function sees only the outer names that it uses"
    namespace = {**frame.f_globals, **variables}
    return names_graph(namespace, names, "Names and what they refer to", cure=cure)


def names_graph(
    namespace: Mapping[str, object],
    names,
    title: str = "",
    numbers=None,
    cure: str = "run the cell that makes it",
    follow: Callable[[object], bool] = lambda value: True,
) -> Graph:
    """Return the graph of `names` (str) in `namespace`: one box per name, one per object.

    `numbers`: shared by the moments of one run, so that an object keeps its key. `follow(value)`:
    whether what an object has in it is drawn too.
    """
    for name in names:
        if type(name) is not str:
            raise TypeError(f"names must be str, such as 'a', not {label(name)}")
        if name not in namespace:
            raise NameError(f"there is no name {label(name)} here yet; {cure}")
    numbers, alive, queue = numbers or Numbers(), {}, deque()
    nodes, edges, left = {}, [], {}

    def add(value: object, depth: int) -> str:
        """Add an object, and put what it holds into the queue; return its key."""
        if id(value) in alive:
            return alive[id(value)][0]
        key = f"object {numbers.of(value)}"
        alive[id(value)] = (key, value)
        tensor = shown_tensor(value)
        words = tensor or library_value(value)
        parts, size = _find_parts(value) if not tensor and follow(value) else ([], 0)
        kind = "function" if type(value) is FunctionType else "object"
        if depth:
            left["parts"] = left.get("parts", 0) + size - len(parts[:MOST_ITEMS])
            kind = "holder" if parts and kind == "object" else kind
        second = type_name(value) if words else detail(value)
        nodes[key] = Node(key, words or label(value), kind, second)
        queue.append((key, parts[:MOST_ITEMS], depth))
        return key

    for name in dict.fromkeys(names):
        if len(nodes) < MOST_BOXES:
            nodes[f"name {name}"] = Node(f"name {name}", short_name(name), "name")
            edges.append(Edge(f"name {name}", add(namespace[name], DEEPEST)))
    while queue:  # breadth first
        key, parts, depth = queue.popleft()
        left["deeper"] = left.get("deeper") or (bool(parts) and not depth)
        for words, one in parts if depth else ():
            if id(one) in alive or len(nodes) < MOST_BOXES:
                edges.append(Edge(key, add(one, depth - 1), words))
    told = {
        f"The first {MOST_ITEMS} parts of each object are drawn; {left.get('parts', 0):,} more "
        "are left out (give a part a name to see it).": left.get("parts"),
        f"Only the first {MOST_BOXES} boxes are drawn.": len(nodes) >= MOST_BOXES,
        f"Objects more than {DEEPEST} arrows from a name are not drawn.": left.get("deeper"),
    }
    note = " ".join(words for words, is_so in told.items() if is_so)
    return Graph(title, tuple(nodes.values()), tuple(edges), note)


def _find_parts(value: object) -> tuple[list[tuple[str, object]], int]:
    """Return what the object holds, as (how, what), the first of it, and how much there is."""
    kind = type(value)
    if is_exactly(value, list, tuple):
        return [(f"[{i}]", item) for i, item in enumerate(value[:MOST_ITEMS])], len(value)
    if kind is dict:
        first = islice(list(value.items()), MOST_ITEMS)
        return [(f"[{label(key)}]", item) for key, item in first], len(value)
    if is_exactly(value, set, frozenset):
        first = sorted(islice(value, MOST_SORTED), key=label)
        return [("", item) for item in first[:MOST_ITEMS]], len(value)
    if is_exactly(value, staticmethod, classmethod):
        found = [("__func__", value.__func__)]
    elif kind is functools.partial:
        found = [("func", value.func)]
    elif kind is MethodType:
        found = [("__func__", value.__func__), ("__self__", value.__self__)]
    elif kind is FunctionType:
        free = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        found = [(f"closure {short_name(n)}", c.cell_contents) for n, c in free if c != CellType()]
        defaults = value.__defaults__ or ()
        found += [("default", one) for one in defaults if not is_exactly(one, *SCALARS)]
        found += [(n, one) for n, one in vars(value).items() if n == "__wrapped__"]
    else:
        found = [(f".{short_name(name)}", one) for name, one in _attributes(value)]
    return found, len(found)


def _attributes(value: object) -> list[tuple[str, object]]:
    if real_isinstance(value, type):
        functions = (FunctionType, staticmethod, classmethod)
        return [(k, v) for k, v in vars(value).items() if type(v) in functions]
    home = vars(type(value)).get("__module__", "builtins")
    followed = not real_isinstance(value, ModuleType) and home not in ("builtins", "numpy")
    inside = instance_dict(value) if followed else None
    return [(k, v) for k, v in (inside or {}).items() if type(k) is str]
