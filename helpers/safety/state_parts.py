"""Parts of a process that code can set: how each is read, and how it is restored."""

from collections import namedtuple
from collections.abc import Callable

from .restoring import module

# One part of the process. `read()` returns its value, which no later change touches, and
# `restore(value)` sets it. `needs`: the module that must be loaded already.
Part = namedtuple("Part", "name read restore needs", defaults=("sys",))
LAST_RESULT = "_"  # an interactive Python keeps it in builtins


def attribute(needs: str, name: str, inner: str = "") -> Part:
    """Return the part that is an attribute of a loaded module, or of the object `inner` in it."""

    def owner():
        return getattr(module(needs), inner) if inner else module(needs)

    def read():
        return getattr(owner(), name)

    def restore(value):
        setattr(owner(), name, value)

    return Part(f"{needs}.{inner}.{name}".replace("..", "."), read, restore, needs)


def switch(needs: str, name: str, read: Callable, restore: Callable) -> Part:
    """Return the part that two functions read and set. Both get the module that is needed."""

    def read_now():
        return read(module(needs))

    def restore_now(value):
        restore(module(needs), value)

    return Part(name, read_now, restore_now, needs)


def pair(needs: str, getter: str, setter: str) -> Part:
    """Return the part that two public functions of a library read and set."""

    def find(path: str):
        found = module(needs)
        for name in path.split("."):
            found = getattr(found, name)
        return found

    def read():
        return find(getter)()

    def restore(value):
        find(setter)(value)

    return Part(f"{needs}.{getter}", read, restore, needs)


def list_items(name: str, find: Callable[[], list], needs: str = "sys") -> Part:
    """Return the part that is the items of a list. The list itself stays: others refer to it."""

    def read():
        return list(find())

    def restore(items):
        find()[:] = items

    return Part(name, read, restore, needs)


def dict_items(name: str, find: Callable[[], dict], needs: str = "sys", adds: bool = True) -> Part:
    """Return the part that is the items of a dict. `adds`: new keys are removed."""

    def read():
        return {key: value for key, value in find().items() if key != LAST_RESULT}

    def restore(before):
        now = find()
        for key in [key for key in now if adds and key not in before and key != LAST_RESULT]:
            del now[key]
        for key, value in before.items():
            if key not in now or now[key] is not value:
                now[key] = value

    return Part(name, read, restore, needs)
