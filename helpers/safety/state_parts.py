"""Describe settings of a process, such as `sys.path`, by a function to read and one to restore.
A check saves them before it runs a learner's answer, and restores them after it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from .restoring import find_loaded_module

LAST_RESULT = "_"  # an interactive Python keeps it in builtins


@dataclass(frozen=True)
class StatePart:
    """One setting of the process, which code can change."""

    #: What it is called.
    name: str
    #: Returns its value. If that is a list or a dict, a copy.
    read: Callable[[], object]
    #: `restore(value)` sets the value that `read` returned earlier.
    restore: Callable[[object], object]
    #: The module that the setting belongs to. Both functions need it to be imported already.
    needs: str = "sys"


def attribute_part(needs: str, name: str) -> StatePart:
    """Return the setting that is the attribute `name` of the module `needs`."""

    def read():
        return getattr(find_loaded_module(needs), name)

    def restore(value):
        setattr(find_loaded_module(needs), name, value)

    return StatePart(f"{needs}.{name}", read, restore, needs)


def switch_part(needs: str, name: str, read: Callable, restore: Callable) -> StatePart:
    """Return the setting that `read(module)` returns and `restore(module, value)` sets.

    `module` is the module called `needs`.
    """

    def read_now():
        return read(find_loaded_module(needs))

    def restore_now(value):
        restore(find_loaded_module(needs), value)

    return StatePart(name, read_now, restore_now, needs)


def accessor_part(needs: str, getter: str, setter: str) -> StatePart:
    """Return the setting that two public functions of a library read and set.

    `getter` and `setter` are their names in the module `needs`, such as "config.floatx" and
    "config.set_floatx".
    """

    def find(path: str):
        """Return the function at a dotted path in the module."""
        value = find_loaded_module(needs)
        for name in path.split("."):
            value = getattr(value, name)
        return value

    def read():
        return find(getter)()

    def restore(value):
        find(setter)(value)

    return StatePart(f"{needs}.{getter}", read, restore, needs)


def list_part(name: str, find: Callable[[], list], needs: str = "sys") -> StatePart:
    """Return the setting that consists of the items of the list that `find()` returns.

    Restoring replaces the items of the same list, because other code has references to that list.
    """

    def read():
        return list(find())

    def restore(items):
        find()[:] = items

    return StatePart(name, read, restore, needs)


def dict_part(
    name: str, find: Callable[[], dict], needs: str = "sys", removes_new: bool = True
) -> StatePart:
    """Return the setting that consists of the items of the dict that `find()` returns.

    Restoring changes the same dict, because other code has references to it. With `removes_new`,
    keys that have been added are removed. The key `LAST_RESULT` is left alone.
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
