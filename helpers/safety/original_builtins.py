"""The builtins as they were at the start -> names of our own, which nobody rebinds.

A learner may replace `len`, everywhere. What puts it back must not call it. So a module that says

    __builtins__ = BUILTINS

before its first `def` looks its builtins up in this copy (a function takes `__builtins__` from its
globals when it is made: `PyFunction_NewWithQualName`, Objects/funcobject.c). That same line tells
the search for holders that the module is one of those: nothing in it is rebound.
"""

import builtins

_INTERPRETER = vars(builtins)
BUILTINS = {name: value for name, value in _INTERPRETER.items() if name != "_"}

__builtins__ = BUILTINS


class Unpatched:
    """A `with` block in which the interpreter's builtins are those of the start.

    For a library of Python's own that is called while a learner's are in force.
    """

    __slots__ = ("_theirs",)

    def __enter__(self):
        self._theirs = dict(_INTERPRETER)
        _INTERPRETER.update(BUILTINS)

    def __exit__(self, *error):
        for name in [name for name in _INTERPRETER if name not in self._theirs]:
            del _INTERPRETER[name]
        _INTERPRETER.update(self._theirs)


class Own:
    """What the search itself is made of: it holds what it looks for, and never reports itself."""

    __slots__ = ()


def is_ours(namespace: dict) -> bool:
    """Return whether a module with this namespace is one that keeps names of its own."""
    return dict.get(namespace, "__builtins__") is BUILTINS
