"""A code object and its namespaces -> a frame: the value stack, the locals, and where it stands.

The slots are those of CPython's `_PyInterpreterFrame` (`Include/internal/pycore_frame.h`): one
array holds locals, cells and free variables, and a place without a value holds NULL.
"""

import builtins
import sys
from types import CellType, CodeType, ModuleType

from helpers.mini.vm.values import NULL


class Handling:
    """The exception that is being handled. A generator has its own, and looks on to `outer`."""

    __slots__ = ("value", "outer")

    def __init__(self, outer=None):
        self.value, self.outer = None, outer

    def topmost(self) -> BaseException | None:
        """Return the exception that `raise` without an argument would raise again, or None."""
        here = self
        while here is not None:
            if here.value is not None:
                return here.value
            here = here.outer
        return sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1]


class Frame:
    """One call in progress. `names` is None in a function, the namespace in a class or module.

    `raised_at` is the offset that an exception raised again brings from where it arose, else None;
    `making` is the new instance if this is the call of an `__init__`, else NULL.
    """

    __slots__ = (
        *("machine", "code", "decoded", "globals", "builtins", "names", "fast", "closure"),
        *("stack", "pc", "back", "depth", "handling", "kw_names", "result", "snapshot"),
        *("making", "raised_at"),
    )

    def __init__(self, machine, code: CodeType, space: dict, names=None, closure=(), back=None):
        self.machine, self.code, self.decoded = machine, code, machine.decoded(code)
        self.globals, self.builtins = space, _builtins(space)
        self.names, self.closure = names, closure
        self.fast = [NULL] * self.decoded.slots
        self.stack, self.pc, self.kw_names = [], 0, ()
        self.result = self.snapshot = self.raised_at = None
        self.making = NULL
        self.back = back
        self.depth = back.depth + 1 if back is not None else machine.depth
        self.handling = back.handling if back is not None else machine.handling

    def take_result(self):
        """Return what this frame returned or yielded, and keep no reference to it."""
        result, self.result = self.result, None
        return result if self.making is NULL else self._made(result)

    def _made(self, result):
        """Return the instance that this `__init__` has set up; it may return nothing itself."""
        if result is None:
            return self.making
        self.pc = 0  # The error is the caller's: no handler of this frame guards it.
        raise TypeError(f"__init__() should return None, not '{type(result).__name__}'")

    # What `sys._getframe()` promises, so that code which asks for its frame finds this one.

    @property
    def f_code(self) -> CodeType:
        """The code object that runs here."""
        return self.code

    @property
    def f_globals(self) -> dict:
        """The module's namespace."""
        return self.globals

    @property
    def f_builtins(self) -> dict:
        """Where a name is looked up last."""
        return self.builtins

    @property
    def f_back(self):
        """The frame that called, or CPython's own frame below the machine."""
        return self.back if self.back is not None else self.machine.host

    @property
    def f_lasti(self) -> int:
        """The offset of the instruction that runs now, in bytes."""
        return self.decoded.offsets[max(self.pc - 1, 0)]

    @property
    def f_lineno(self) -> int | None:
        """The line of the instruction that runs now."""
        lines = [line for start, end, line in self.code.co_lines() if start <= self.f_lasti < end]
        return lines[0] if lines else None

    @property
    def f_locals(self):
        """The namespace, or what the function's locals hold now (a new dict each time on 3.13)."""
        if self.names is not None:
            return self.names
        values = {name: _content(value) for name, value in self._bound()}
        values = {name: value for name, value in values.items() if value is not NULL}
        if sys.version_info >= (3, 13):
            return values
        if self.snapshot is None:
            self.snapshot = {}
        self.snapshot.clear()
        self.snapshot.update(values)
        return self.snapshot

    def _bound(self):
        names = zip(self.decoded.names, self.fast, strict=True)
        return ((name, value) for name, value in names if not name.startswith("."))


def _content(value):
    if type(value) is not CellType:
        return value
    try:
        return value.cell_contents
    except ValueError:
        return NULL


def _builtins(space: dict) -> dict:
    found = space.get("__builtins__", builtins)
    return vars(found) if isinstance(found, ModuleType) else found
