"""A frame of the machine: how a call makes one, and what Python code and tracebacks see of it.

A callable and its arguments become a frame to run, or a value where C code does the work. What C
code calls back by itself is run by CPython. Builtins that look at the frame they are called from
find this machine's, because functions of ours replace them.

Mirrors CPython's `Objects/frameobject.c`, and for a frame that waits `Objects/genobject.c`: its
generator is CPython's own, and its body drives the machine's frame.
"""

import dis
import inspect
import sys
from contextlib import suppress
from operator import attrgetter
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, TracebackType

from ...internals.interpreter_frame import variables
from .instructions import NULL, Unsupported

AHEAD = sys.version_info >= (3, 13)  # a frame that waits is at what it will continue with
WAITING = ("RETURN_GENERATOR", "YIELD_VALUE")
ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class Handling:
    """The exception that is being handled. A generator has its own, and looks on to `outer`.

    `under` was handled further out when the first of its own came: a placeholder while it has none.
    """

    __slots__ = ("value", "outer", "under")

    def __init__(self, outer=None):
        self.value, self.outer, self.under = None, outer, None

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

    f_code, f_globals, f_builtins = map(property, map(attrgetter, ("code", "globals", "builtins")))
    f_trace = None

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

    # The frame that called, or CPython's own frame below the machine.
    f_back = property(lambda self: self.thread.host if self.back is None else self.back)
    f_lineno = property(lambda self: self._line(self.f_lasti))

    @property
    def f_lasti(self) -> int:
        """The offset of the instruction that runs now, in bytes."""
        step = self.steps[max(self.at - 1, 0)]
        return step.offset + (2 if AHEAD and step.opname in WAITING else 0)

    def _line(self, offset: int) -> int | None:
        lines = (line for start, end, line in self.code.co_lines() if start <= offset < end)
        return next(lines, None)

    @property
    def f_locals(self) -> dict:
        """A new dict of what the function's locals hold now."""
        values = {name: self.value_of_slot(name) for name in variables(self.code)}
        return {name: value for name, value in values.items() if value is not NULL}

    def entry(self, following: TracebackType | None) -> TracebackType:
        """Return a traceback whose first entry is this frame, at its line."""
        at = self.f_lasti
        while at > 2 and self._line(at) is None:  # cleanup has no line
            at -= 2
        frame = FunctionType(_standing(self.code, at), self.globals)().gi_frame
        line = self._line(at)
        return TracebackType(following, frame, at, -1 if line is None else line)


def _standing(code: CodeType, at: int) -> CodeType:
    """Return a look-alike whose frame tells the line of `at`, which IPython asks the frame for.

    Its call makes a generator at once. Once that is gone, a frame stands at the first RESUME
    (take_ownership, Python/frame.c).
    """
    size = max(len(code.co_code) // 2, 2)
    body = bytearray((dis.opmap["RETURN_GENERATOR"], 0, *(dis.opmap["NOP"], 0) * (size - 1)))
    body[max(at - 2 * AHEAD, 2)] = dis.opmap["RESUME"]
    flags = inspect.CO_GENERATOR | inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS
    none = dict.fromkeys(("co_argcount", "co_posonlyargcount", "co_kwonlyargcount"), 0)
    none |= {"co_exceptiontable": b"", "co_cellvars": (), "co_freevars": ()}
    return code.replace(co_code=bytes(body), co_flags=flags, **none)


def generator_of(frame):
    """Return a generator that continues `frame`, with its function's name."""
    generator, function = _drive(frame), frame.called
    generator.__name__, generator.__qualname__ = function.__name__, function.__qualname__
    return generator


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
    thread = frame.thread
    frame.back, frame.handling.outer = thread.top, (thread.top or thread).handling
    frame.depth = (thread.top or thread).depth + 1
    if thrown is not None and _yielded(frame) and frame.steps[frame.at - 2].opname == "SEND":
        return _throw_into(frame, frame.stack[-1], thrown)
    thread.top, frame.done, frame.is_flat = frame, False, False
    if thrown is not None:
        return frame.throw(thrown)
    frame.push(sent)
    return frame.evaluate()


def _yielded(frame) -> bool:
    return frame.steps[frame.at - 1].opname == "YIELD_VALUE"


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


def enter(caller, function, args, kwargs):
    """Return a new frame for a call of Python code, its parameters bound; None for all else."""
    while type(function) is MethodType:
        function, args = function.__func__, (function.__self__, *args)
    if type(function) is not FunctionType:
        if type(function) is BuiltinFunctionType:
            return None
        if isinstance(function, type):
            return _enter_init(caller, function, args, kwargs)
        call = type(function).__call__ if callable(function) else None
        python = type(call) is FunctionType
        return enter(caller, call, (function, *args), kwargs) if python else None
    code, space = function.__code__, function.__globals__
    flags = code.co_flags
    if flags & ASYNC:
        raise Unsupported(f"this machine runs no async code, and {code.co_qualname} is async")
    if not flags & inspect.CO_OPTIMIZED:  # the body of a class: CPython runs that
        return None
    local = _bound(function, code, args, kwargs)
    frame = caller.frame(code, space, function.__closure__ or (), local)
    frame.called = function
    if frame.depth > sys.getrecursionlimit():
        raise RecursionError("maximum recursion depth exceeded")
    return frame


def _enter_init(caller, cls, args, kwargs):
    """Return the frame of a Python `__init__`, its instance made; None for every rarer way."""
    plain = type(cls).__call__ is type.__call__ and cls.__new__ is object.__new__
    if not plain or type(cls.__init__) is not FunctionType:
        return None
    obj = cls.__new__(cls, *args, **kwargs)
    frame = enter(caller, cls.__init__, (obj, *args), kwargs)
    frame.making = obj
    return frame


def _bound(function, code, args, kwargs) -> dict:
    """Return the parameters with their values; where they do not fit, CPython says so."""
    count = code.co_argcount
    plain = not kwargs and not code.co_kwonlyargcount and not code.co_flags & STARS
    if plain and len(args) == count:
        return dict(zip(code.co_varnames, args, strict=False))
    signature, bound = inspect.Signature.from_callable(function, follow_wrapped=False), None
    with suppress(TypeError):
        bound = signature.bind(*args, **kwargs)
    if bound is None:
        function(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def call_native(caller, function, args, kwargs):
    """Call what is not a Python function. Builtins that look at their caller see this machine's."""
    if type(function) in (BuiltinFunctionType, type) and function in ASKERS:
        return ASKERS[function](caller, *args, **kwargs)
    return function(*args, **kwargs)


# --- builtins that look at the frame that calls them


def _super(frame, *args):
    if args:
        return super(*args)
    if not frame.code.co_argcount:
        raise RuntimeError("super(): no arguments")
    cls, first = map(frame.value_of_slot, ("__class__", frame.code.co_varnames[0]))
    if cls is NULL or first is NULL:
        raise RuntimeError("super(): __class__ cell not found")
    return super(cls, first)


def _evaluator(function):
    def call(frame, source, *spaces, **closure):
        return function(source, *(spaces or (frame.globals, frame.f_locals)), **closure)

    return call


def _getframe(frame, depth=0):
    for _ in range(depth):
        frame = frame.f_back if frame is not None else None
    if frame is None:
        raise ValueError("call stack is not deep enough")
    return frame


def _exc_info(frame):
    error = frame.handled
    return (None, None, None) if error is None else (type(error), error, error.__traceback__)


ASKERS = {
    globals: lambda frame: frame.globals,
    locals: lambda frame: frame.f_locals,
    vars: lambda frame, *args: vars(*args) if args else frame.f_locals,
    dir: lambda frame, *args: dir(*args) if args else sorted(frame.f_locals),
    super: _super,
    eval: _evaluator(eval),
    exec: _evaluator(exec),
    sys._getframe: _getframe,
    sys.exc_info: _exc_info,
    sys.exception: lambda frame: frame.handled,
}
if hasattr(sys, "_getframemodulename"):  # since 3.12
    ASKERS[sys._getframemodulename] = lambda *given: _getframe(*given).f_globals.get("__name__")
