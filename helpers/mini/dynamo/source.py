"""Where a function's names come from besides its locals: globals, builtins, cells.

Each look-up becomes a guard, because all three can change. Mirrors the sources of
torch/_dynamo/source.py.
"""

import builtins
from types import FunctionType

from helpers.mini.dynamo.symbolic_values import Refuse


class Spaces:
    """The globals, builtins and cells of one function."""

    def __init__(self, fn: FunctionType):
        self.fn = fn
        self.cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))

    def find(self, trace, name: str):
        """Return the symbolic value of a global or builtin name; Refuse if there is none."""
        space, found = self.fn.__globals__, self.fn.__builtins__
        if type(space) is not dict or type(found) is not dict:
            raise Refuse("its globals or its builtins are no plain dict")
        named = trace.name(space, f"globals_of_{self.fn.__module__}")
        if name in space:
            return trace.take(space[name], f"{named}[{name!r}]")
        if name not in found:
            raise Refuse(f"the name {name} is not defined")
        trace.guard(f"{name!r} not in {named}")
        source = f"{trace.name(found, 'builtins')}[{name!r}]"
        if found[name] is getattr(builtins, name, None):
            trace.guard(f"{source} is {trace.name(found[name], f'the_{name}')}")
            return trace.builtin(found[name], name)
        return trace.take(found[name], source)

    def cell(self, trace, name: str):
        """Return the symbolic value of what a cell holds; Refuse for one that is empty or new."""
        cell = self.cells.get(name)
        if cell is None:
            raise Refuse(f"{name} is shared with a function that is made here")
        try:
            contents = cell.cell_contents
        except ValueError:
            raise Refuse(f"{name} is not bound yet") from None
        return trace.take(contents, f"{trace.name(cell, f'cell_of_{name}')}.cell_contents")
