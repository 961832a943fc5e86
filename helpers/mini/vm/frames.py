"""A code object and its namespaces -> a frame: the value stack, the locals, and where it stands.

The slots are those of CPython's `_PyInterpreterFrame` (`Include/internal/pycore_frame.h`): one
array holds locals, cells and free variables, and a place without a value holds NULL.
"""

import builtins
import sys
from types import CodeType, FrameType, ModuleType, TracebackType

from helpers.mini.vm.locals_view import FrameLocalsProxy, content
from helpers.mini.vm.values import NULL

AHEAD = sys.version_info >= (3, 13)  # a frame that waits stands at what it will go on with


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
        *("stack", "pc", "back", "depth", "handling", "kw_names", "result", "extra_locals"),
        *("making", "raised_at", "titles", "f_trace", "f_trace_lines", "f_trace_opcodes"),
    )

    def __init__(self, machine, code: CodeType, space: dict, names=None, closure=(), back=None):
        self.machine, self.code, self.decoded = machine, code, machine.decoded(code)
        self.globals, self.builtins = space, _builtins(space)
        self.names, self.closure = names, closure
        self.fast = [NULL] * self.decoded.slots
        self.stack, self.pc, self.kw_names = [], 0, ()
        self.result = self.raised_at = None
        self.extra_locals = {}
        self.making = NULL
        self.titles = code.co_name, code.co_qualname
        self.f_trace, self.f_trace_lines, self.f_trace_opcodes = None, True, False
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

    def entry(self, following: TracebackType | None) -> TracebackType:
        """Return a traceback whose first entry is this frame, where it stands now."""
        lasti = self.f_lasti
        return TracebackType(
            following, self.decoded.stand_in(self.globals), lasti, self._line(lasti)
        )

    # What `sys._getframe()` promises, so that code which asks for its frame finds this one.

    @property
    def __class__(self):
        """A frame, for `isinstance` and `inspect`; `type()` tells that it is the machine's."""
        return FrameType

    @property
    def is_new(self) -> bool:
        """Whether this is a generator's frame that nobody has gone on with."""
        return self.decoded.opnames[self.pc - 1] == "RETURN_GENERATOR"

    def __repr__(self) -> str:
        where = f"file {self.code.co_filename!r}, line {self.f_lineno}, code {self.code.co_name}"
        return f"<frame at {id(self):#x}, {where}>"

    def clear(self) -> None:
        """Forget the locals of a frame that is done; RuntimeError for one that is not."""
        here = self.machine.top
        while here is not None and here is not self:
            here = here.back
        if here is self:
            raise RuntimeError("cannot clear an executing frame")
        self.fast = [NULL] * len(self.fast)

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
        waits = self.decoded.opnames[self.pc - 1] in ("RETURN_GENERATOR", "YIELD_VALUE")
        here = self.pc if waits and AHEAD else self.pc - 1
        return self.decoded.offsets[max(here, 0)]

    @property
    def f_lineno(self) -> int | None:
        """The line of the instruction that runs now."""
        return self.code.co_firstlineno if self.is_new else self._line(self.f_lasti)

    def _line(self, offset: int) -> int | None:
        lines = (line for start, end, line in self.code.co_lines() if start <= offset < end)
        return next(lines, None)

    @property
    def f_locals(self):
        """The namespace, or what the function's locals hold now: 3.13 follows them, both ways."""
        if self.names is None and sys.version_info >= (3, 13):
            return FrameLocalsProxy(self)
        return self.locals()

    def locals(self):
        """Return what `locals()` does: on 3.13 a new dict, before that one dict per frame."""
        if self.names is not None:
            return self.names
        slots = zip(self.decoded.names, self.fast, strict=True)
        values = {name: content(value) for name, value in slots}
        bound = {name: value for name, value in values.items() if value is not NULL}
        if sys.version_info >= (3, 13):
            return bound | self.extra_locals
        for name in values.keys() - bound.keys():
            self.extra_locals.pop(name, None)
        self.extra_locals.update(bound)  # other names, which `exec` has put there, stay
        return self.extra_locals


def _builtins(space: dict) -> dict:
    found = space.get("__builtins__", builtins)
    return vars(found) if isinstance(found, ModuleType) else found


Frame.__name__ = Frame.__qualname__ = "frame"  # as CPython names its own
