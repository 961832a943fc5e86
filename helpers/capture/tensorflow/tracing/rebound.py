"""A Python function -> which functions that it calls by a global name have become others since.

A graph does not ask for a name again; a ledger can say at a hit that the name leads elsewhere now.
Functions are held weakly: whoever asks who holds one is not to find this.
"""

import weakref
from types import FunctionType, MethodType

from helpers.safety.arguments import printable

MOST = 3  # names in one note


class Named:
    """The functions that the globals of `python` gave for the names in its code, when made."""

    def __init__(self, python):
        function = python.__func__ if type(python) is MethodType else python
        self._space, self._before = {}, {}
        if type(function) is FunctionType:
            self._space = function.__globals__
            found = ((name, self._space.get(name)) for name in function.__code__.co_names)
            self._before = {name: weakref.ref(f) for name, f in found if type(f) is FunctionType}

    def others(self) -> str:
        """Say which names lead to something else by now; "" where none does."""
        names = [n for n, before in self._before.items() if self._space.get(n) is not before()]
        if not names:
            return ""
        told = ", ".join(map(printable, names[:MOST])) + ", …" * (len(names) > MOST)
        return f"another {told} by now, for which the graph does not ask"
