"""The frame of a Python-written bytecode machine, as programs and tracebacks see it.

A frame is one call in progress. The program that runs in the machine may ask for a frame, by
`sys._getframe` or a traceback. It finds the attributes that CPython's frames have, such as
`f_lineno`. Mirrors CPython's `Objects/frameobject.c`.
"""

import dis
import inspect
import sys
from operator import attrgetter
from types import CodeType, FunctionType, TracebackType

from ...internals.interpreter_frame import list_slot_names
from .instructions import NULL

# Since 3.13, the frame of a waiting generator is at the instruction with which it will continue.
AHEAD = sys.version_info >= (3, 13)
WAITING = ("RETURN_GENERATOR", "YIELD_VALUE")  # after these, a generator's frame waits
UNIT = 2  # bytes of one code unit


class Handling:
    """Which exception an `except` block is handling now. Mirrors `_PyErr_StackItem` of CPython.

    All frames of a run share one Handling, except that each generator has its own. If a generator
    handles nothing itself, the exception of the code that continued it counts.

    Attributes
    ----------
    value
        The exception that is being handled here, or None.
    outer
        For a generator, the Handling of the code that continues it; otherwise None.
    under
        What was handled further out when `value` was first set. At the end of its `except` block,
        the bytecode sets this exception again, which tells that nothing is handled here any more.
    """

    __slots__ = ("value", "outer", "under")

    def __init__(self, outer=None):
        """Handle nothing yet."""
        self.value = None
        self.outer = outer
        self.under = None

    def topmost(self) -> BaseException | None:
        """Return the exception that `raise` without an argument would raise again, or None."""
        return self.value if self.value is not None else self.beneath()

    def beneath(self) -> BaseException | None:
        """Return the exception that is handled further out: in `outer`, or outside the machine."""
        return self.outer.topmost() if self.outer is not None else sys.exception()


class Frame:
    """One call in progress, with the attributes of CPython's frames (`f_…`).

    The subclass `Loop` sets these attributes:

    Attributes
    ----------
    back
        The frame of the machine that called, or None.
    is_flat
        Whether the same run of the loop goes on with `back` when this frame ends.
    making
        The new instance if this is the call of an `__init__`, else NULL.
    code, globals, builtins
        The code object that runs, and its two outer namespaces.
    local, cells
        Name -> value of the local variables, and name -> cell of those that functions share.
    steps, at
        The plain instructions of the code, and the position of the next one in the list.
    handling
        The Handling that says which exception is being handled.
    thread
        The run to which the frame belongs. `thread.host` is the CPython frame outside the machine.
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
        if handling.value is None:  # an outermost `except` block begins here
            handling.under = handling.beneath()
        elif error is handling.under:  # this `except` block ends, and nothing is handled here
            error = None
        handling.value = error

    def value_of_slot(self, name):
        """Return the value of a variable, which may be in a cell; NULL where it is not bound."""
        if name in self.local:
            return self.local[name]
        try:
            return self.cells[name].cell_contents
        except (KeyError, ValueError):
            return NULL

    @property
    def f_back(self):
        """The frame that called, or CPython's frame that started the machine."""
        return self.thread.host if self.back is None else self.back

    @property
    def f_lineno(self) -> int | None:
        """The line that runs now."""
        return self._line(self.f_lasti)

    @property
    def f_lasti(self) -> int:
        """The offset of the instruction that runs now, in bytes."""
        step = self.steps[max(self.at - 1, 0)]  # `at` is the position of the next instruction
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
        """A new dict, name -> value, of the function's variables that are bound now."""
        values = {}
        for name in list_slot_names(self.code):
            value = self.value_of_slot(name)
            if value is not NULL:
                values[name] = value
        return values

    def add_to_traceback(self, following: TracebackType | None) -> TracebackType:
        """Return a traceback with this frame, at the line that runs, in front of `following`.

        A traceback needs a real frame of CPython. So a generator is made whose code object has the
        name, file and lines of this frame's code, and its frame stands at the right line.
        """
        offset = self.f_lasti
        while offset > UNIT and self._line(offset) is None:
            offset -= UNIT  # instructions of a cleanup have no line: go back to one that has
        line = self._line(offset)
        if line is None:
            line = -1  # TracebackType does not accept None

        standing_code = _make_standing_code(self.code, offset)
        generator = FunctionType(standing_code, self.globals)()
        return TracebackType(following, generator.gi_frame, offset, line)


def _make_standing_code(code: CodeType, offset: int) -> CodeType:
    """Return code of a generator function whose frame stands at the line of `offset` at once.

    The names, file and lines are those of `code`. IPython reads the line from the frame, not from
    the traceback, so the frame must stand there. The instructions are a RETURN_GENERATOR, so that a
    call makes a generator at once, one RESUME, and else NOPs. When the generator is freed, CPython
    moves its frame to the first RESUME (take_ownership, Python/frame.c). So the RESUME is at the
    offset.
    """
    unit_count = max(len(code.co_code) // UNIT, 2)
    nops = (dis.opmap["NOP"], 0) * (unit_count - 1)
    body = bytearray((dis.opmap["RETURN_GENERATOR"], 0, *nops))
    # Since 3.13, the frame stands behind the RESUME.
    resume_offset = offset - UNIT if AHEAD else offset
    body[max(resume_offset, UNIT)] = dis.opmap["RESUME"]

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
