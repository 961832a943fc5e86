"""A frame of the machine as Python code sees one: what `sys._getframe()` promises, and tracebacks.

Mirrors CPython's `Objects/frameobject.c`, and for a frame that waits `Objects/genobject.c`: its
generator is CPython's own, so that `send`, `throw`, `close`, `list` and `isinstance` work on it,
and its body drives the machine's frame.
"""

import builtins
import dis
import inspect
import sys
from types import CodeType, FrameType, FunctionType, GeneratorType, ModuleType, TracebackType

from helpers.internals.interpreter_frame import variables
from helpers.mini.vm.instructions import NULL, once_per_code

AHEAD = sys.version_info >= (3, 13)  # a frame that waits stands at what it will go on with
WAITING = ("RETURN_GENERATOR", "YIELD_VALUE")


class Handling:
    """The exception that is being handled. A generator has its own, and looks on to `outer`.

    `under` was handled further out when the first of its own came: what stands for none of its own.
    """

    __slots__ = ("value", "outer", "under")

    def __init__(self, outer=None):
        self.value, self.outer, self.under = None, outer, None

    def topmost(self) -> BaseException | None:
        """Return the exception that `raise` without an argument would raise again, or None."""
        return self.value if self.value is not None else self.beneath()

    def beneath(self) -> BaseException | None:
        """Return what is handled further out, or below the machine."""
        return self.outer.topmost() if self.outer is not None else sys.exc_info()[1]


class Frame:
    """One call in progress. `names` is None in a function, the namespace in a class or module.

    `back` is the frame that called; `is_flat` says that it waits for the value in the same loop.
    `making` is the new instance if this is the call of an `__init__`, else NULL.
    """

    f_trace = None

    @property
    def __class__(self):
        """A frame, for `isinstance` and `inspect`; `type()` tells that it is the machine's."""
        return FrameType

    @property
    def handled(self) -> BaseException | None:
        """The exception that is being handled, which a bare `raise` raises again."""
        return self.handling.topmost()

    @handled.setter
    def handled(self, error):
        handling = self.handling
        if handling.value is None:
            handling.under = handling.beneath()
        elif error is handling.under:
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

    def entry(self, following: TracebackType | None) -> TracebackType:
        """Return a traceback whose first entry is this frame, where it stands now."""
        at, known = self.f_lasti, _entries(self.code)
        if at not in known:
            place = at
            while place > 2 and self._line(place) is None:  # cleanup has no line
                place -= 2
            known[at] = _standing(self.code, place), place, self._line(place)
        stand_in, place, line = known[at]
        frame = FunctionType(stand_in, self.globals)().gi_frame
        return TracebackType(following, frame, place, -1 if line is None else line)

    def __repr__(self) -> str:
        where = f"file {self.code.co_filename!r}, line {self.f_lineno}, code {self.code.co_name}"
        return f"<frame at {id(self):#x}, {where}>"

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
        return self.back if self.back is not None else self.thread.host

    @property
    def f_lasti(self) -> int:
        """The offset of the instruction that runs now, in bytes."""
        step = self.steps[max(self.at - 1, 0)]
        return step.offset + (2 if AHEAD and step.opname in WAITING else 0)

    @property
    def f_lineno(self) -> int | None:
        """The line of the instruction that runs now."""
        new = self.steps[self.at - 1].opname == "RETURN_GENERATOR"
        return self.code.co_firstlineno if new else self._line(self.f_lasti)

    def _line(self, offset: int) -> int | None:
        lines = (line for start, end, line in self.code.co_lines() if start <= offset < end)
        return next(lines, None)

    @property
    def f_locals(self) -> dict:
        """The namespace, or a dict of what the function's locals hold now."""
        return self.namespace()

    def namespace(self):
        """Return what `locals()` does: on 3.13 a new dict, before that one dict per frame."""
        if self.names is not None:
            return self.names
        values = {name: self.value_of_slot(name) for name in variables(self.code)}
        bound = {name: value for name, value in values.items() if value is not NULL}
        if sys.version_info >= (3, 13):
            return bound | self.extra_locals
        for name in values.keys() - bound.keys():
            self.extra_locals.pop(name, None)
        self.extra_locals.update(bound)  # other names, which `exec` has put there, stay
        return self.extra_locals


@once_per_code
def _entries(code: CodeType) -> dict[int, tuple]:
    """Return a table to fill: offset -> (code that stands there, its offset, its line)."""
    return {}


def _standing(code: CodeType, at: int) -> CodeType:
    """Return a look-alike whose frame tells the line of `at`, which IPython asks the frame for.

    Its call makes a generator at once. Once that is gone, a frame stands at the first RESUME
    (take_ownership, Python/frame.c).
    """
    size = max(len(code.co_code) // 2, 2)
    body = bytearray((dis.opmap["RETURN_GENERATOR"], 0, *(dis.opmap["NOP"], 0) * (size - 1)))
    body[max(at - 2 * AHEAD, 2)] = dis.opmap["RESUME"]
    kept = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_COROUTINE)
    return code.replace(
        co_code=bytes(body),
        co_flags=kept | inspect.CO_GENERATOR | inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS,
        co_exceptiontable=b"",
        co_argcount=0,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_cellvars=(),
        co_freevars=(),
    )


def builtins_of(space: dict) -> dict:
    """Return where code with these globals looks a name up last."""
    found = space.get("__builtins__", builtins)
    return vars(found) if isinstance(found, ModuleType) else found


def generator_of(frame):
    """Return a generator that goes on with `frame`, with its function's name."""
    generator = _drive(frame)
    generator.__name__, generator.__qualname__ = frame.titles
    return generator


def program_code(generator: GeneratorType) -> CodeType:
    """Return the code object that runs in a generator: of the machine's own, the program's."""
    code = generator.gi_code
    if code is _drive.__code__ and generator.gi_frame is not None:
        return generator.gi_frame.f_locals["frame"].code
    return code


def _drive(frame):
    frame.handling = type(frame.handling)()
    sent, thrown = None, None
    while True:
        value = _go_on(frame, sent, thrown)
        frame.back = None
        if not _yielded(frame):
            return value
        sent, thrown = None, None
        try:
            sent = yield value
        except BaseException as error:
            thrown = error


def _go_on(frame, sent, thrown):
    """Run the frame until it next yields or returns: what it yielded or returned."""
    thread = frame.thread
    frame.back, frame.handling.outer = thread.top, (thread.top or thread).handling
    frame.depth = (thread.top or thread).depth + 1
    if thrown is not None:
        subiterator = _subiterator(frame)
        if subiterator is not NULL:
            return _throw_into(frame, subiterator, thrown)
    thread.top, frame.done, frame.is_flat = frame, False, False
    if thrown is not None:
        return frame.throw(thrown)
    frame.push(sent)
    return frame.evaluate()


def _yielded(frame) -> bool:
    return frame.steps[frame.at - 1].opname == "YIELD_VALUE"


def _subiterator(frame):
    """Return the iterator that the frame's `yield from` waits for, or NULL."""
    delegates = _yielded(frame) and frame.steps[frame.at - 2].opname == "SEND"
    return frame.stack[-1] if delegates else NULL


def _throw_into(frame, subiterator, error):
    """Hand an exception on to the subiterator, as PEP 380 says; the frame stays where it is."""
    closing = isinstance(error, GeneratorExit)
    hand_on = getattr(subiterator, "close" if closing else "throw", None)
    try:
        value = hand_on() if closing and hand_on else hand_on and hand_on(error)
    except BaseException as raised:
        ended = raised
    else:
        if not closing and hand_on is not None:
            return value
        ended = error
    frame.thread.top, frame.done = frame, False
    if not isinstance(ended, StopIteration) or ended is error:
        return frame.throw(ended)
    frame.stack[-1] = ended.value
    frame.jump(frame.steps[frame.at - 2].arguments[0])  # where SEND goes at the end
    return frame.evaluate()
