"""Define a Place: one reference that an object, its *holder*, has to another object. A Place knows
how to read the reference, how to write it, and the dotted path of its owner. Examples are the
global name `app.op`, the item `app.items[3]` and a default argument of a function.
"""

from collections import deque
from types import ModuleType

from ...model.reference_records import Binding, join_path
from ...safety.arguments import is_exactly, printable, real_isinstance, real_type_name
from ...safety.restoring import HiddenFromSearch
from ..cpython.objects import read_namespace
from .module_caches import find_module_cache
from .place_access import MISSING, find_access

MOST_OWNERS = 3  # that a row names
FIXED_REASONS = {  # kind of place -> why it cannot be written; {} is the name of the place
    "dict key": "a key is found by its hash",
    "frozenset member": "a frozenset cannot be changed",
    "tuple item": "a tuple cannot be changed",
    "bound method": "a bound method's {} is read-only",
    "C-level holder": "it is in C or in a slot, where the search does not write",
}
_SEQUENCE_TYPES = {"list item": list, "deque item": deque}


class HiddenList(list, HiddenFromSearch):
    """A list for the search's own use: the search never reports it as a holder of its items."""


class Place(HiddenFromSearch):
    """A reference that a holder has to an object.

    Attributes
    ----------
    kind : str
        One of `KINDS` in the model of references.
    container : object
        The raw part in which the reference is, such as the dict behind an instance.
    name : str
        What the owner calls the place: an attribute, `['key']`, `[3]`, a free variable.
    holder : object
        The object whose path names the owner. For a closure cell it is a HiddenList of the
        functions that share the cell.
    position : object
        Where the reference is in the container: a key, an index, a name, or a member itself.
    wrapper : type or None
        `staticmethod` or `classmethod` for an attribute of a class that is in one of these.
    reason : str
        Why the place cannot be written; "" if it can.
    errors : sequence of BaseException
        The exceptions whose tracebacks contain the holder, which is a frame.
    owners : tuple of str
        The paths of the owners, filled in by the search; several only for a shared closure cell.
    scan : bool
        Whether the fast scan of the modules finds it.
    was_cached : bool
        Whether TensorFlow's cache of a module answered for the name when the place was found.
    """

    def __init__(
        self,
        kind: str,
        container: object,
        name: str,
        holder: object = None,
        position: object = None,
        wrapper: type | None = None,
        reason: str = "",
        errors=(),
    ):
        """Record a place; the class describes each argument.

        The holder is the container itself if no other one is passed. A place of a kind that can
        never be written gets its reason from FIXED_REASONS.
        """
        self.kind = kind
        self.container = container
        self.name = name
        self.holder = container if holder is None else holder
        self.position = position
        self.wrapper = wrapper
        self.reason = reason or FIXED_REASONS.get(kind, "").format(name)
        self.errors = errors
        # The search fills in the next three.
        self.owners: tuple[str, ...] = ()
        self.scan = False
        self.was_cached = False

    @property
    def key(self) -> tuple:
        """A tuple that two Places have in common if they stand for the same reference."""
        # A place is identified by its container and its name. But two keys of a dict may have the
        # same name, such as `[<tuple>]`. Then the id of the key is added.
        has_own_name = self.kind != "dict value" or is_exactly(self.position, int, str)
        return id(self.container), self.name, 0 if has_own_name else id(self.position)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every dotted path under which `keep` and `only` may name this place."""
        return (self.binding.path, *(join_path(owner, self.name) for owner in self.owners))

    @property
    def binding(self) -> Binding:
        """The row of this place."""
        return self.build_binding(self.reason)

    def build_binding(self, reason: str, is_garbage: bool = False) -> Binding:
        """Return the record of this place for a table.

        `reason` says why the place cannot be rebound, "" if it can. `is_garbage` says that only the
        garbage collector reaches the place.
        """
        owner = " and ".join(self.owners[:MOST_OWNERS])
        if len(self.owners) > MOST_OWNERS:
            owner += " and others"
        return Binding(
            kind=self.kind,
            owner=owner,
            name=self.name,
            scan=self.scan,
            rebindable=not reason and not is_garbage,
            reason=reason,
            garbage=is_garbage,
        )

    def get(self) -> object:
        """Return what the place refers to now; MISSING if the place is gone, or cannot be read."""
        if self.reason:  # a place that cannot be written is not read, either
            return MISSING
        try:
            return find_access(self.kind).read(self)
        except Exception:  # the program may have emptied or replaced the container
            return MISSING

    def update_position(self, value: object, others: list["Place"]) -> None:
        """Update `position` if the program has moved `value` to another index of its list or deque.

        A list may contain `value` several times, each with a Place. `others` are Places whose
        positions are not taken.
        """
        sequence_type = _SEQUENCE_TYPES.get(self.kind)
        if sequence_type is None or self.get() is value:
            return
        taken_indexes = {other.position for other in others if other.container is self.container}
        for index, item in enumerate(sequence_type.__iter__(self.container)):
            if item is value and index not in taken_indexes:
                self.position = index
                return

    def put(self, value: object) -> None:
        """Make the place refer to `value`. If Python refuses, raise that error and change nothing.

        A place with a `reason` must not be written.
        """
        find_access(self.kind).write(self, value)


def build_module_place(name: str, module: ModuleType, attribute: str) -> Place:
    """Return the Place of a global name of a module.

    `name` is the key of the module in `sys.modules`, and `attribute` is the global name.
    """
    place = Place(
        kind="module attribute",
        container=read_namespace(module),
        name=attribute,
        holder=module,
        position=attribute,
    )
    place.owners = (name,)
    place.scan = True  # the fast search, which reads the dicts of modules, finds this place
    cache = find_module_cache(module)
    place.was_cached = cache is not None and bool(cache.has(attribute))
    return place


def find_keys(container: dict, value: object) -> list:
    """Return the keys of a dict whose values are `value` itself, compared by `is`.

    The dict is not copied first. A copy would have a tuple for each pair, and so many new objects
    at once would make the garbage collector run sooner.
    """
    while True:
        try:
            return [key for key, item in dict.items(container) if item is value]
        except RuntimeError:  # another thread has changed the dict during the loop: begin again
            continue


def format_key(key: object) -> str:
    """Return a dict key in brackets: `['key']`, `[3]`, `[str]` for a class, else `[<its type>]`.

    No repr of a user's class runs.
    """
    if real_isinstance(key, type):
        return f"[{printable(key.__name__)}]"
    if is_exactly(key, str, int, bool, type(None)):
        return f"[{key!r}]"
    return f"[<{real_type_name(key)}>]"
