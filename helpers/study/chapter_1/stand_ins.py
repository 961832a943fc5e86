"""What the judges of chapter 1 put into a process to be found, swapped, or tripped over."""

from types import MethodType

from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # a learner's rebinding may have reached those of the interpreter


class Equal:
    """Equal to everything, and the same as nothing: tells `is` from `==`, and who asked."""

    __slots__ = ("asked",)
    __hash__ = None

    def __init__(self):
        self.asked = False

    def __eq__(self, other):
        self.asked = True
        return True


class Sour:
    """An object that notices whether it was compared by `==`, which gives nothing to rely on."""

    __slots__ = ("asked",)
    __array_ufunc__ = None  # so that an array leaves the comparison to this object
    __hash__ = None

    def __init__(self):
        self.asked = False

    def __eq__(self, other):
        self.asked = True
        return False


def stand_in(name: str):
    """Return a new function with this name; calling it gives the name."""

    def function(*args, **kwargs):
        return name

    function.__name__ = function.__qualname__ = name
    return function


def twins() -> tuple[MethodType, MethodType]:
    """Return two bound methods of one object: they are equal, and not the same."""
    function, owner = stand_in("other"), object()
    return MethodType(function, owner), MethodType(function, owner)
