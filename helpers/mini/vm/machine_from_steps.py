"""Classes of handlers -> a machine that has them; what is a stub still counts as not written."""

from functools import partialmethod
from types import FunctionType

from helpers.mini.vm.loop import Absent, Loop
from helpers.mini.vm.values import Unwritten
from helpers.safety.arguments import is_exactly

_MRO, _SPACE = (type.__dict__[name].__get__ for name in ("__mro__", "__dict__"))


def machine(*steps: type) -> type:
    """Return the machine that has the handlers of these classes, the first one's first."""
    space = {name: Absent(name, Unwritten) for step in steps for name in opcodes(step)}
    for step in reversed(steps):
        space |= {name: _found(step)[name] for name in written(step)}
    return type("frame", (*dict.fromkeys(steps), Loop), space)  # as CPython names its own frames


def opcodes(step: type) -> frozenset[str]:
    """Return the opcodes that a class of handlers has methods for, inherited ones and stubs too."""
    return frozenset(name for name, value in _found(step).items() if callable(_method(value)))


def written(step: type) -> frozenset[str]:
    """Return the opcodes that a class has real handlers for: methods that say more than `...`."""
    methods = {name: _method(value) for name, value in _found(step).items()}
    return frozenset(n for n, method in methods.items() if callable(method) and not is_stub(method))


def _found(step) -> dict:
    """Return what stands under upper-case names, as it stands there; none of its code is run."""
    named = {}
    for part in reversed(_MRO(step)):
        named |= {n: v for n, v in _SPACE(part).items() if type(n) is str and n.isupper()}
    return named


def _method(value):
    if is_exactly(value, partialmethod):
        return value.func
    return value.__func__ if is_exactly(value, staticmethod, classmethod) else value


def is_stub(method) -> bool:
    """Return whether a method is the stub still: `return ...`, and at most words about it."""
    if type(method) is not FunctionType:
        return False
    code = method.__code__
    if code.co_names or code.co_freevars:  # as a decorator's has, which calls another one
        return False
    return ... in code.co_consts and all(c in (None, ...) or type(c) is str for c in code.co_consts)
