"""A frame of the machine: what Python code and tracebacks see of a call in progress.

Mirrors CPython's `Objects/frameobject.c`.
"""

import dis
import inspect
import sys
from operator import attrgetter
from types import CodeType, FunctionType, TracebackType

from ...internals.interpreter_frame import list_slot_names
from .instructions import NULL

AHEAD = sys.version_info >= (3, 13)  # a frame that waits is at what it will continue with
WAITING = ("RETURN_GENERATOR", "YIELD_VALUE")
UNIT = 2  # bytes of one code unit


class Handling:
    """The exception that is being handled. A generator has its own, and looks on to `outer`.

    `under` was handled further out when the first of its own came: a placeholder while it has none.
    """

    __slots__ = ("value", "outer", "under")

    def __init__(self, outer=None):
        """Handle nothing yet. `outer` is the Handling of what continues a generator, or None."""
        self.value = None
        self.outer = outer
        self.under = None

    def topmost(self) -> BaseException | None:
        """Return the exception that `raise` without an argument would raise again, or None."""
        return self.value if self.value is not None else self.beneath()

    def beneath(self) -> BaseException | None:
        """Return what is handled further out, or below the machine."""
        return self.outer.topmost() if self.outer is not None else sys.exception()


class Frame:
    """One call in progress.

    `back` is the frame that called; `is_flat` says that it waits for the value in the same loop.
    `making` is the new instance if this is the call of an `__init__`, else NULL. Who asks for a
    frame gets this one, with CPython's names for what it is asked.
    """

    f_code = property(attrgetter("code"))
    f_globals = property(attrgetter("globals"))
    f_builtins = property(attrgetter("builtins"))
    f_trace = None

    @property
    def handled(self) -> BaseException | None:
        """The exception that is being handled, which a bare `raise` raises again."""
        return self.handling.topmost()

    @handled.setter
    def handled(self, error):
        """Set what is being handled; at the end of an `except`, that is what was before it."""
        handling = self.handling
        if handling.value is None:  # the first one of its own begins
            handling.under = handling.beneath()
        elif error is handling.under:  # and it ends: what is further out is not its own
            error = None
        handling.value = error

    def value_of_slot(self, name):
        """Return what a variable holds, in a cell or not; NULL where it is not bound."""
        if name in self.local:
            return self.local[name]
        try:
            return self.cells[name].cell_contents
        except (KeyError, ValueError):
            return NULL

    @property
    def f_back(self):
        """The frame that called, or CPython's own frame below the machine."""
        return self.thread.host if self.back is None else self.back

    @property
    def f_lineno(self) -> int | None:
        """The line that runs now."""
        return self._line(self.f_lasti)

    @property
    def f_lasti(self) -> int:
        """The offset of the instruction that runs now, in bytes."""
        step = self.steps[max(self.at - 1, 0)]  # `at` is the next one
        if AHEAD and step.opname in WAITING:
            return step.offset + UNIT
        return step.offset

    def _line(self, offset: int) -> int | None:
        """Return the line of the instruction at an offset in bytes; None if it has none."""
        for start, end, line in self.code.co_lines():
            if start <= offset < end:
                return line
        return None

    @property
    def f_locals(self) -> dict:
        """A new dict of what the function's locals hold now."""
        values = {}
        for name in list_slot_names(self.code):
            value = self.value_of_slot(name)
            if value is not NULL:
                values[name] = value
        return values

    def add_to_traceback(self, following: TracebackType | None) -> TracebackType:
        """Return a traceback whose first entry is this frame, at its line, before `following`."""
        offset = self.f_lasti
        while offset > UNIT and self._line(offset) is None:  # cleanup has no line
            offset -= UNIT
        line = self._line(offset)
        if line is None:
            line = -1  # a TracebackType takes no None

        standing_code = _make_standing_code(self.code, offset)
        # A traceback refers to a frame of CPython's, and only CPython makes such.
        generator = FunctionType(standing_code, self.globals)()
        return TracebackType(following, generator.gi_frame, offset, line)


def _make_standing_code(code: CodeType, offset: int) -> CodeType:
    """Return code with the names and lines of `code`, whose frame is at the line of `offset`.

    IPython asks the frame for its line, and not the traceback. A call of the code makes a generator
    at once. When the generator is freed, CPython moves its frame to the first RESUME
    (take_ownership, Python/frame.c), so a RESUME stands at the offset.
    """
    units = max(len(code.co_code) // UNIT, 2)
    nothing = (dis.opmap["NOP"], 0) * (units - 1)
    body = bytearray((dis.opmap["RETURN_GENERATOR"], 0, *nothing))
    resume_at = offset - UNIT if AHEAD else offset
    body[max(resume_at, UNIT)] = dis.opmap["RESUME"]

    return code.replace(
        co_code=bytes(body),
        co_flags=inspect.CO_GENERATOR | inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS,
        co_argcount=0,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_exceptiontable=b"",
        co_cellvars=(),
        co_freevars=(),
    )
