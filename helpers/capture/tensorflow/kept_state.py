"""What one object contained at one moment -> what is different now, and how to restore it. The
object, called the *owner*, is a list, a dict, a set, the cell of a closure, a class, or the
`__dict__` of an instance or a module. A *part* is one item or attribute of the owner, and the
*place* of a part is how a program writes it, as in "self.items[0]".
"""

from dataclasses import dataclass
from types import CellType

from ...internals import dynamo_codes
from ...safety.arguments import is_exactly, printable, real_isinstance
from .state_kinds import SCALARS
from .trace_words import format_literal

GONE = object()  # stands for the value of a part that does not exist
# Patterns of a place. {0} is the path of the owner, and {1} the key of the part.
BY_ITEM = "{0}[{1}]"
BY_ATTRIBUTE = "{0}.{1}"
BY_NAME = "{1}"
# Names that Python itself adds to a module: without them, it would show a warning once more.
NAMES_OF_PYTHON = {"__warningregistry__", "__builtins__"}


class LibraryAttributes:
    """Those attributes of a library's class or module that a function's code may set.

    A library is too large to compare all of it, so only these attributes are compared.
    """

    def __init__(self, namespace, names: set[str]):
        """Choose the attributes with these names of `namespace`, a class or a module."""
        self.namespace = namespace
        self.names = names

    def read(self) -> dict[str, object]:
        """Return the attributes that are there now, by their names."""
        attributes = vars(self.namespace)
        return {name: attributes[name] for name in sorted(self.names & attributes.keys())}


@dataclass(frozen=True, eq=False)
class OwnerSnapshot:
    """An object (the owner), with a copy of what it contained at one moment."""

    #: how a function reaches the owner, as in "self.items"
    path: str
    #: how the place of a part is written: BY_ITEM, BY_ATTRIBUTE or BY_NAME
    pattern: str
    #: the owner itself
    owner: object
    #: a copy of its contents: a list, a set, or a dict of key -> part
    before: object

    def list_parts(self) -> list[tuple[str, object]]:
        """Return (place, value) of each part at that moment, as in ("self.items[0]", 3)."""
        return [(self._format_place(key), part) for key, part in _parts_by_key(self.before).items()]

    def find_changes(self) -> dict[str, object]:
        """Return place -> the value now, for each part that is another one now.

        The value is GONE if the part does not exist any more. The parts of a set have no places,
        and those of a list have shifted if the length has changed. Then the result is the path of
        the whole owner -> all its contents now.
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
        """Restore each part that is another one now, and leave the others alone.

        Return (class or module, name, value until now) for each attribute of a library that was
        restored, because the caller sets it again in the end. Return [] for any other owner.
        """
        owner = self.owner
        now = _read_content(owner)
        if type(owner) is LibraryAttributes:
            changes = _find_changed_keys(owner, now, self.before)
            for name in changes:
                set_attribute(owner.namespace, name, self.before.get(name, GONE))
            return [(owner.namespace, name, value) for name, value in changes.items()]

        if real_isinstance(owner, type):
            for name in _find_changed_keys(owner, now, self.before):
                set_attribute(owner, name, self.before.get(name, GONE))
        elif type(owner) is CellType:
            # A cell that was empty, for which `self.before` is {}, stays as it is now.
            if self.before and _find_changed_keys(owner, now, self.before):
                owner.cell_contents = self.before[""]
        elif type(owner) is dict:
            _restore_dict(owner, self.before)
        elif type(owner) is list:
            if len(now) != len(self.before) or _find_changed_keys(owner, now, self.before):
                owner[:] = self.before
        elif now != self.before:  # a set
            owner.clear()
            owner.update(self.before)
        return []

    def _format_place(self, key) -> str:
        """Return the place of the part with this key."""
        text = format_literal(key) if self.pattern == BY_ITEM else printable(key)
        return self.pattern.format(self.path, text)


def snapshot_owner(path: str, pattern: str, owner) -> OwnerSnapshot:
    """Return a snapshot of what an object contains now.

    `path` and `pattern` are those of the OwnerSnapshot.
    """
    return OwnerSnapshot(path, pattern, owner, _read_content(owner).copy())


def _read_content(owner):
    """Return the contents of an owner: a dict, list or set itself, or else a dict of key -> part.

    The key of what a cell contains is "". Names that Python or `abc` adds to a class are left out.
    """
    if real_isinstance(owner, type):
        names = [name for name in vars(owner) if not name.startswith(("__", "_abc_"))]
        return {name: vars(owner)[name] for name in names}
    if type(owner) is LibraryAttributes:
        return owner.read()
    if type(owner) is not CellType:
        return owner  # a container, or the `__dict__` of an instance or a module
    try:
        return {"": owner.cell_contents}
    except ValueError:  # the cell is empty
        return {}


def _parts_by_key(container) -> dict:
    """Return key -> part of a container. The key is an index if it is a list or a set."""
    return container if type(container) is dict else dict(enumerate(container))


def _find_changed_keys(owner, now, before) -> dict:
    """Return key -> the value now, for the parts that the program's own code has changed.

    `before` and `now` are the contents of `owner` at two moments. The value is GONE if the part
    does not exist any more.
    """
    parts_now = _parts_by_key(now)
    parts_before = _parts_by_key(before)
    changes = {}
    for key in {**parts_before, **parts_now}:
        value = parts_now.get(key, GONE)
        if not _is_unchanged(parts_before.get(key, GONE), value):
            changes[key] = value
    if type(owner) is dict and changes:
        # The dict may be the globals of a module, to which Dynamo and Python add names.
        ignored_names = dynamo_codes.find_names_of_dynamo(owner, changes) | NAMES_OF_PYTHON
        for name in ignored_names:
            changes.pop(name, None)
    return changes


def _is_unchanged(before, now) -> bool:
    """Return whether a part has not been replaced by another object.

    Equal strings and numbers of one type count as the same. `==` of any other type is not called,
    because that would run the program's code.
    """
    if before is now:
        return True
    return type(before) is type(now) and is_exactly(before, *SCALARS) and before == now


def _restore_dict(owner: dict, before: dict) -> None:
    """Restore the items of a dict that were changed, and the order of all items.

    The dict may be the globals of a module, in which another thread looks names up meanwhile. So
    items are restored one by one, and taken out only if their order has changed.
    """
    for key in _find_changed_keys(owner, owner, before):
        if key in before:
            owner[key] = before[key]
        else:
            owner.pop(key, None)
    # Now all old keys are there. A key that was added by Dynamo or Python stays, after the old
    # ones.
    old_keys_now = [key for key in owner if key in before]
    if old_keys_now != list(before):
        # A dict has its items in the order in which they were added, so all are added again.
        items = {key: owner.pop(key) for key in list(owner)}
        old_items = {key: items.pop(key) for key in before if key in items}
        owner.update(old_items | items)


def set_attribute(namespace, name: str, value) -> None:
    """Set an attribute of a class or a module, or delete it if the value is GONE."""
    if value is not GONE:
        setattr(namespace, name, value)
    elif name in vars(namespace):
        delattr(namespace, name)
