"""What is no function, but holds some: a module, a script's path -> what to give in its place."""

from functools import cached_property
from itertools import islice
from pathlib import PurePath
from types import FunctionType, ModuleType

from helpers.safety.arguments import by_type, is_a, printable
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

MOST = 10_000  # names of a module that are looked at
_SPACE = ModuleType.__dict__["__dict__"].__get__


def instead(thing: object) -> str:
    """Return what to give instead, as the end of a sentence; "" where nobody knows.

    No line of a module's own code is run, not even its `__getattr__`.
    """
    if is_a(thing, ModuleType):
        return f"; of a module, give a function{_such_as(_SPACE(thing))}"
    if held := by_type({property: "fget", cached_property: "func"}, thing):
        return f"; give its {held}, and the object as its argument"
    if is_a(thing, PurePath) or (is_a(thing, str) and str.endswith(thing, ".py")):
        return "; runpy.run_path(path) runs a script, and gives its functions by name"
    return ""


def _such_as(space) -> str:
    """Return the first function of a module that is for others, as an example."""
    names = (
        name
        for name, value in islice(dict.items(space), MOST)
        if type(value) is FunctionType and type(name) is str and name[:1] != "_"
    )
    found = next(names, "")
    home = dict.get(space, "__name__")
    return f", such as {printable(home)}.{printable(found)}" if found and type(home) is str else ""
