"""Names in a namespace -> the graph of what they refer to, by identity.

The graph is drawn breadth first from the names, so an object has the box of its shortest path.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from types import FrameType, FunctionType

from ...internals.interpreter_frame import read_local_variables
from ...model.graphs import Edge, Graph, Node
from ...safety.arguments import real_type_name
from ..text.tensors import format_tensor
from ..text.value import format_detail, format_label, format_library_value, format_name
from .object_references import MOST_ITEMS, Reference, References, find_references

DEEPEST = 4  # arrows from a name to the last object that is drawn
MOST_BOXES = 150
RUN_THE_CELL = "run the cell that makes it"
MAKE_IT_FIRST = "make it first; a function sees only the outer names that it uses"


class ObjectNumbers:
    """Numbers objects by identity over the moments of one run, and keeps none of them alive.

    An id is free again when its object is gone, so a number is remembered only from one moment to
    the next. Within a moment the caller keeps the objects alive.
    """

    def __init__(self) -> None:
        """Begin with number 1 for the first object."""
        self._counter = count(1)
        #: The id of an object -> its type and its number, at the moment before and at this one.
        self._previous: dict[int, tuple[type, int]] = {}
        self._current: dict[int, tuple[type, int]] = {}

    def begin_moment(self) -> None:
        """Begin another moment. Its objects must stay alive until the next one begins."""
        self._previous = self._current
        self._current = {}

    def number(self, value: object) -> int:
        """Return the number of an object: the same as before, or the next one."""
        known = self._current.get(id(value)) or self._previous.get(id(value))
        # An object of another type is a new object, which has got the id of one that is gone.
        if known is None or known[0] is not type(value):
            known = (type(value), next(self._counter))
        self._current[id(value)] = known
        return known[1]


def build_names_graph_of_frame(frame: FrameType, names: Iterable[str]) -> Graph:
    """Return the graph of what `names` refer to in a frame: its variables, then its globals."""
    if not names:
        raise TypeError('show_names needs the names to draw, such as show_names("a", "b")')

    variables = read_local_variables(frame)
    is_module = variables is frame.f_globals
    return build_names_graph(
        {**frame.f_globals, **variables},
        names,
        title="Names and what they refer to",
        cure=RUN_THE_CELL if is_module else MAKE_IT_FIRST,
    )


def build_names_graph(
    namespace: Mapping[str, object],
    names: Iterable[str],
    title: str = "",
    numbers: ObjectNumbers | None = None,
    cure: str = RUN_THE_CELL,
    follow: Callable[[object], bool] = lambda value: True,
) -> Graph:
    """Return the graph of `names` in `namespace`, with one box per name and one per object.

    Parameters
    ----------
    namespace : mapping of str to object
        The values of the names.
    names : iterable of str
        The names to draw.
    title : str
        The title of the graph.
    numbers : ObjectNumbers, optional
        The numbers that the graphs of one run share, so that an object keeps its key.
    cure : str
        What the error about a missing name advises.
    follow : callable
        `follow(value)` says whether what is in an object is drawn too.

    Raises
    ------
    TypeError
        If a name is not a str.
    NameError
        If the namespace has no such name.
    """
    for name in names:
        if type(name) is not str:
            raise TypeError(f"names must be str, such as 'a', not {format_label(name)}")
        if name not in namespace:
            raise NameError(f"there is no name {format_label(name)} here yet; {cure}")

    builder = _NamesGraphBuilder(numbers or ObjectNumbers(), follow)
    for name in dict.fromkeys(names):  # each name once
        builder.add_name(name, namespace[name])
    builder.add_references()
    return builder.build(title)


@dataclass(frozen=True)
class _PendingObject:
    """An object whose box is drawn, and whose references are not yet."""

    #: The key of its box.
    key: str
    #: The references to draw, at most `MOST_ITEMS`.
    references: list[Reference]
    #: How many more arrows may follow each other from it, 0 if it is too far from a name.
    depth: int


class _NamesGraphBuilder:
    """The boxes and arrows of one graph while they are drawn, names first."""

    def __init__(self, numbers: ObjectNumbers, follow: Callable[[object], bool]):
        """Draw nothing yet. `numbers` gives objects their keys; `follow(value)` opens an object."""
        self._numbers = numbers
        self._follow = follow
        self._nodes: dict[str, Node] = {}
        self._edges: list[Edge] = []
        self._keys: dict[int, str] = {}  # the id of an object -> the key of its box
        self._alive: list[object] = []  # keeps those ids valid
        self._pending: deque[_PendingObject] = deque()
        self._left_out_count = 0  # references beyond the first ones of each object
        self._has_deeper_objects = False

    def add_name(self, name: str, value: object) -> None:
        """Draw a name, the object that it refers to, and the arrow."""
        if len(self._nodes) >= MOST_BOXES:
            return
        key = f"name {name}"
        self._nodes[key] = Node(key, format_name(name), "name")
        self._edges.append(Edge(key, self._add_object(value, DEEPEST)))

    def add_references(self) -> None:
        """Draw what the objects refer to, and what that refers to, breadth first."""
        while self._pending:
            holder = self._pending.popleft()
            if not holder.depth:
                self._has_deeper_objects = self._has_deeper_objects or bool(holder.references)
                continue
            for reference in holder.references:
                if id(reference.target) in self._keys or len(self._nodes) < MOST_BOXES:
                    target = self._add_object(reference.target, holder.depth - 1)
                    self._edges.append(Edge(holder.key, target, reference.label))

    def build(self, title: str) -> Graph:
        """Return the graph, with a note on what it leaves out."""
        notes = []
        if self._left_out_count:
            notes.append(
                f"The first {MOST_ITEMS} parts of each object are drawn; {self._left_out_count:,} "
                "more are left out (give a part a name to see it)."
            )
        if len(self._nodes) >= MOST_BOXES:
            notes.append(f"Only the first {MOST_BOXES} boxes are drawn.")
        if self._has_deeper_objects:
            notes.append(f"Objects more than {DEEPEST} arrows from a name are not drawn.")
        return Graph(title, tuple(self._nodes.values()), tuple(self._edges), " ".join(notes))

    def _add_object(self, value: object, depth: int) -> str:
        """Return the key of an object's box; draw the box first if the object is a new one.

        `depth` is how many more arrows may lead away from the object.
        """
        if id(value) in self._keys:
            return self._keys[id(value)]
        key = f"object {self._numbers.number(value)}"
        self._keys[id(value)] = key
        self._alive.append(value)

        tensor_text = format_tensor(value)
        text = tensor_text or format_library_value(value)
        is_opened = not tensor_text and self._follow(value)
        references = find_references(value) if is_opened else References([], 0)
        drawn = references.first[:MOST_ITEMS]

        kind = "function" if type(value) is FunctionType else "object"
        if depth:
            self._left_out_count += references.count - len(drawn)
            if drawn and kind == "object":
                kind = "holder"
        second_line = real_type_name(value) if text else format_detail(value)
        self._nodes[key] = Node(key, text or format_label(value), kind, second_line)
        self._pending.append(_PendingObject(key, drawn, depth))
        return key
