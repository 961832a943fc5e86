"""What one object contained at one moment -> what is different now, and how to restore it.

The object is a list, a dict, a set, a cell, a class, or the dict of an instance or a module.
"""

from dataclasses import dataclass
from types import CellType

from ...internals import dynamo_codes
from ...safety.arguments import is_exactly, printable, real_isinstance
from .state_kinds import SCALARS
from .trace_words import format_literal

GONE = object()  # stands for the value of a key that is not there
# How the place of a part is written: {0} is the path of its owner, {1} its key.
BY_ITEM = "{0}[{1}]"
BY_ATTRIBUTE = "{0}.{1}"
BY_NAME = "{1}"
# Names that Python itself adds to a module: without them, it would show a warning once more.
NAMES_OF_PYTHON = {"__warningregistry__", "__builtins__"}


class LibraryAttributes:
    """Some attributes of a class or a module of a library: those that a function's code sets."""

    def __init__(self, space, names: set[str]):
        """Choose the attributes with these names of `space`, a class or a module."""
        self.space = space
        self.names = names

    def read(self) -> dict[str, object]:
        """Return the attributes that are there now, by their names."""
        attributes = vars(self.space)
        return {name: attributes[name] for name in sorted(self.names & attributes.keys())}


@dataclass(frozen=True, eq=False)
class KeptOwner:
    """An object, with what it contained at one moment."""

    #: how a function reaches the object, as in `self.items`
    path: str
    #: how the place of a part is written: one of the BY_… patterns
    pattern: str
    #: the object itself
    owner: object
    #: a copy of its contents
    before: object

    def list_parts(self) -> list[tuple[str, object]]:
        """Return the place and the value of each part at that moment."""
        return [(self._format_place(key), part) for key, part in _parts_by_key(self.before).items()]

    def find_changes(self) -> dict[str, object]:
        """Return place -> its value now or GONE, of each part that is another now.

        A set has no places, and those of a list have shifted when its length is another. Then the
        result has the path of the whole object, with all its contents.
        """
        now = _read_content(self.owner)
        has_places = type(now) is not set
        if type(now) is list and len(now) != len(self.before):
            has_places = False
        if not has_places:
            return {self.path: now} if now != self.before else {}
        changes = _find_changed_keys(self.owner, now, self.before)
        return {self._format_place(key): value for key, value in changes.items()}

    def restore(self) -> list[tuple[object, str, object]]:
        """Restore what is different now, and leave all else alone.

        Return the attributes of a library that were restored: the class or module, the name, and
        the value until now.
        """
        owner = self.owner
        now = _read_content(owner)
        if type(owner) is LibraryAttributes:
            changes = _find_changed_keys(owner, now, self.before)
            for name in changes:
                set_attribute(owner.space, name, self.before.get(name, GONE))
            return [(owner.space, name, value) for name, value in changes.items()]

        if real_isinstance(owner, type):
            for name in _find_changed_keys(owner, now, self.before):
                set_attribute(owner, name, self.before.get(name, GONE))
        elif type(owner) is CellType:
            if self.before and _find_changed_keys(owner, now, self.before):
                owner.cell_contents = self.before[""]
        elif type(owner) is dict:
            _restore_dict(owner, self.before)
        elif type(owner) is list:
            if len(now) != len(self.before) or _find_changed_keys(owner, now, self.before):
                owner[:] = self.before
        elif now != self.before:
            owner.clear()
            owner.update(self.before)
        return []

    def _format_place(self, key) -> str:
        """Return the place of the part with this key."""
        text = format_literal(key) if self.pattern == BY_ITEM else printable(key)
        return self.pattern.format(self.path, text)


def keep_owner(path: str, pattern: str, owner) -> KeptOwner:
    """Return an object with what it contains now; `path` and `pattern` as in KeptOwner."""
    return KeptOwner(path, pattern, owner, _read_content(owner).copy())


def _read_content(owner):
    """Return what a function can change of an object: a container itself, else names as a dict."""
    if real_isinstance(owner, type):
        names = [name for name in vars(owner) if not name.startswith(("__", "_abc_"))]
        return {name: vars(owner)[name] for name in names}
    if type(owner) is LibraryAttributes:
        return owner.read()
    if type(owner) is not CellType:
        return owner
    try:
        return {"": owner.cell_contents}
    except ValueError:  # the cell is empty
        return {}


def _parts_by_key(container) -> dict:
    """Return the parts of a container by their keys, those of a list or set by their index."""
    return container if type(container) is dict else dict(enumerate(container))


def _find_changed_keys(owner, now, before) -> dict:
    """Return key -> its value now or GONE, of the parts that the program's own code has changed.

    `now` and `before` are the contents of `owner` at two moments.
    """
    parts_now = _parts_by_key(now)
    parts_before = _parts_by_key(before)
    changes = {}
    for key in {**parts_before, **parts_now}:
        value = parts_now.get(key, GONE)
        if not _is_unchanged(parts_before.get(key, GONE), value):
            changes[key] = value
    if type(owner) is dict and changes:
        added_by_others = dynamo_codes.find_names_of_dynamo(owner, changes) | NAMES_OF_PYTHON
        for name in added_by_others:
            changes.pop(name, None)
    return changes


def _is_unchanged(before, now) -> bool:
    """Return whether two values are the same object, or equal plain values of one type."""
    if before is now:
        return True
    return type(before) is type(now) and is_exactly(before, *SCALARS) and before == now


def _restore_dict(owner: dict, before: dict) -> None:
    """Restore the items that were changed, and their order.

    It is done one by one: another thread may look a name up meanwhile.
    """
    for key in _find_changed_keys(owner, owner, before):
        if key in before:
            owner[key] = before[key]
        else:
            owner.pop(key, None)
    # The items from before, in their old order; what others have added comes after them.
    remaining_keys = [key for key in owner if key in before]
    if remaining_keys != list(before):
        later = {key: owner.pop(key) for key in list(owner)}
        in_order = {key: later.pop(key) for key in before if key in later}
        owner.update(in_order | later)


def set_attribute(space, name: str, value) -> None:
    """Set an attribute of a class or a module, or delete it if the value is GONE."""
    if value is not GONE:
        setattr(space, name, value)
    elif name in vars(space):
        delattr(space, name)
