"""Draw names and the objects that they refer to as a graph, as Python Tutor does: one box for each
name, one box for each object, an arrow from a name to its object, and arrows from a container to
its items. Two names of the same object have arrows to the same box.

The graph is drawn breadth first from the names, so an object is drawn at its shortest path.
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
    """Numbers objects by identity, so that an object has the same number in each picture of a run.

    A *moment* is the time for which one picture is made. No object is kept alive here, and CPython
    gives the id of a freed object to another one. So a number is remembered only from one moment to
    the next. Within a moment the caller keeps the objects alive.
    """

    def __init__(self) -> None:
        """Begin with number 1 for the first object."""
        self._counter = count(1)
        #: The id of an object -> its type and its number, at the moment before this one.
        self._previous: dict[int, tuple[type, int]] = {}
        #: The same at this moment.
        self._current: dict[int, tuple[type, int]] = {}

    def begin_moment(self) -> None:
        """Begin another moment. Its objects must stay alive until the next one begins."""
        self._previous = self._current
        self._current = {}

    def number(self, value: object) -> int:
        """Return the number of an object: its number of before, or a new one for a new object."""
        type_and_number = self._current.get(id(value)) or self._previous.get(id(value))
        # If the type differs, this is a new object with the id of an object that is gone.
        if type_and_number is None or type_and_number[0] is not type(value):
            type_and_number = (type(value), next(self._counter))
        self._current[id(value)] = type_and_number
        return type_and_number[1]


def build_names_graph_of_frame(frame: FrameType, names: Iterable[str]) -> Graph:
    """Return the graph of what `names` refer to in a frame.

    A name is looked up as Python does: in the frame's variables, then in its globals. TypeError
    says that there are no names.
    """
    if not names:
        raise TypeError('show_names needs the names to draw, such as show_names("a", "b")')

    variables = read_local_variables(frame)
    # The variables of a module's frame, such as that of a notebook cell, are the globals.
    is_module = variables is frame.f_globals
    return build_names_graph(
        {**frame.f_globals, **variables},  # a variable hides a global of the same name
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
        What the NameError for a missing name advises.
    follow : callable
        `follow(value)` says whether the contents of an object are drawn too.

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
    """An object whose box is drawn, and whose references to other objects are not drawn yet."""

    #: The key of its box.
    key: str
    #: The references to draw, at most `MOST_ITEMS`.
    references: list[Reference]
    #: How many arrows a path that goes on from this box may have. With 0 nothing more is drawn.
    depth: int


class _NamesGraphBuilder:
    """The boxes and arrows of one graph while they are drawn, names first."""

    def __init__(self, numbers: ObjectNumbers, follow: Callable[[object], bool]):
        """Begin with an empty graph.

        `numbers` gives each object the number in its key. `follow(value)` says whether the contents
        of an object are drawn.
        """
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
        """Draw a box for a name, the box of its object, and the arrow from one to the other."""
        if len(self._nodes) >= MOST_BOXES:
            return  # `build` adds a note on this
        key = f"name {name}"
        self._nodes[key] = Node(key, format_name(name), "name")
        self._edges.append(Edge(key, self._add_object(value, DEEPEST)))

    def add_references(self) -> None:
        """Draw the objects that the pending objects refer to, and so on, breadth first."""
        while self._pending:
            holder = self._pending.popleft()
            if not holder.depth:  # too far from a name: only note that something is not drawn
                self._has_deeper_objects = self._has_deeper_objects or bool(holder.references)
                continue
            for reference in holder.references:
                # When there are too many boxes, arrows are drawn only to boxes that exist.
                if id(reference.target) in self._keys or len(self._nodes) < MOST_BOXES:
                    target = self._add_object(reference.target, holder.depth - 1)
                    self._edges.append(Edge(holder.key, target, reference.label))

    def build(self, title: str) -> Graph:
        """Return the graph that was drawn, with a note on what it leaves out."""
        notes = []
        if self._left_out_count:  # items of containers and attributes beyond the first ones
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
        """Return the key of an object's box, such as "object 3"; draw the box if there is none.

        `depth` is how many arrows a path that goes on from this box may have.
        """
        if id(value) in self._keys:
            return self._keys[id(value)]
        key = f"object {self._numbers.number(value)}"
        self._keys[id(value)] = key
        self._alive.append(value)

        tensor_text = format_tensor(value)  # "" for what is no tensor
        library_text = tensor_text or format_library_value(value)  # "" for what no library made
        # A tensor is drawn as one box with its numbers, and not with its attributes.
        is_opened = not tensor_text and self._follow(value)
        references = find_references(value) if is_opened else References([], 0)
        drawn_references = references.first[:MOST_ITEMS]

        kind = "function" if type(value) is FunctionType else "object"
        if depth:  # otherwise no reference of this object is drawn
            self._left_out_count += references.count - len(drawn_references)
            if drawn_references and kind == "object":
                kind = "holder"
        second_line = real_type_name(value) if library_text else format_detail(value)
        self._nodes[key] = Node(key, library_text or format_label(value), kind, second_line)
        self._pending.append(_PendingObject(key, drawn_references, depth))
        return key
