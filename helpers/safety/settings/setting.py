"""A setting of a whole process: its name, how it is read, how it is put back."""

from collections.abc import Callable
from dataclasses import dataclass

from helpers.safety.imported import module
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

UNREAD = None  # what a framework that nobody has imported has set


@dataclass(frozen=True)
class Setting:
    """One setting: its name in a sentence, how it is read (or `UNREAD`), how it is put back.

    `where`: the module without which there is no such setting; empty for one of Python's own.
    """

    name: str
    read: Callable
    put: Callable
    where: str = ""


def of_module(name: str, where: str, read: Callable, put: Callable) -> Setting:
    """Return a setting that only a module has; `read` and `put` get that module first."""

    def read_there():
        found = module(where)
        return UNREAD if found is None else read(found)

    return Setting(name, read_there, lambda before: put(module(where), before), where)


class Same:
    """An object that equals itself alone; its own `==` is not asked."""

    __slots__ = ("value",)

    def __init__(self, value: object):
        self.value = value

    def __eq__(self, other):
        return type(other) is Same and other.value is self.value

    __hash__ = None
