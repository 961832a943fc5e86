"""Parts of a process that code can set: how each is read, and how it is restored."""

from collections.abc import Callable
from dataclasses import dataclass

from .restoring import module

LAST_RESULT = "_"  # an interactive Python keeps it in builtins


@dataclass(frozen=True)
class StatePart:
    """One part of the process."""

    #: What it is called.
    name: str
    #: Returns its value, which no later change touches.
    read: Callable[[], object]
    #: `restore(value)` sets it.
    restore: Callable[[object], object]
    #: The module that must be loaded already.
    needs: str = "sys"


def attribute_part(needs: str, name: str) -> StatePart:
    """Return the part that is an attribute of a loaded module."""

    def read():
        return getattr(module(needs), name)

    def restore(value):
        setattr(module(needs), name, value)

    return StatePart(f"{needs}.{name}", read, restore, needs)


def switch_part(needs: str, name: str, read: Callable, restore: Callable) -> StatePart:
    """Return the part that two functions read and set. Both get the module that is needed."""

    def read_now():
        return read(module(needs))

    def restore_now(value):
        restore(module(needs), value)

    return StatePart(name, read_now, restore_now, needs)


def accessor_part(needs: str, getter: str, setter: str) -> StatePart:
    """Return the part that two public functions of a library read and set.

    `getter` and `setter` are their names in the module `needs`, such as "config.floatx".
    """

    def find(path: str):
        """Return the function at a dotted path in the module."""
        found = module(needs)
        for name in path.split("."):
            found = getattr(found, name)
        return found

    def read():
        return find(getter)()

    def restore(value):
        find(setter)(value)

    return StatePart(f"{needs}.{getter}", read, restore, needs)


def list_part(name: str, find: Callable[[], list], needs: str = "sys") -> StatePart:
    """Return the part that is the items of the list that `find()` returns.

    The list itself stays, because others refer to it. `needs` is the module that must be loaded.
    """

    def read():
        return list(find())

    def restore(items):
        find()[:] = items

    return StatePart(name, read, restore, needs)


def dict_part(
    name: str, find: Callable[[], dict], needs: str = "sys", removes_new: bool = True
) -> StatePart:
    """Return the part that is the items of the dict that `find()` returns, less `LAST_RESULT`.

    With `removes_new`, restoring it removes keys that it did not have.
    """

    def read():
        return {key: value for key, value in find().items() if key != LAST_RESULT}

    def restore(before):
        now = find()
        if removes_new:
            new_keys = [key for key in now if key not in before and key != LAST_RESULT]
            for key in new_keys:
                del now[key]
        for key, value in before.items():
            if key not in now or now[key] is not value:
                now[key] = value

    return StatePart(name, read, restore, needs)
