"""A stack machine for CPython's own bytecode: a function and its arguments -> what it returns.

`run(fn, *args, **kwargs)` evaluates the bytecode of `fn`, and of every Python function that it
calls, one opcode after another, on CPython 3.11, 3.12 and 3.13. Async code stays out.

What C code calls back by itself (the key of `sorted`, a property, `__hash__`) CPython runs. An
exception keeps its type, message, cause and context; its traceback has an entry for each frame of
the program, with its line, by a frame of CPython's that has its code's name and no locals. Who asks
for a frame gets the machine's own, which `inspect` takes for one; who sets a tracer
(`sys.settrace`) traces the machine. Seen from outside, its generators show the code that drives
them.
"""

import sys
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType

from helpers.mini.vm.decoding import missing
from helpers.mini.vm.machine import Machine
from helpers.mini.vm.opcodes import HANDLERS
from helpers.mini.vm.record import Recorder, Step, Trace
from helpers.mini.vm.values import NULL, Unsupported
from helpers.safety.arguments import is_a, kind_of, printable

_NAME = type.__dict__["__name__"].__get__
VERSIONS = ((3, 11), (3, 12), (3, 13))

__all__ = ["NULL", "Step", "Trace", "Unsupported", "can_run", "handled", "missing", "run", "trace"]


def run(fn, /, *args, **kwargs):
    """Return what `fn(*args, **kwargs)` would return, or raise what it would raise.

    Raises:
        TypeError: `fn` is no Python function and no method of one.
        Unsupported: the code is async, an opcode has no handler, or this Python is not one of
            3.11, 3.12 and 3.13.
    """
    _check(fn)
    return Machine(sys._getframe(1)).call(fn, *args, **kwargs)


def trace(fn, /, *args, **kwargs) -> Trace:
    """Run `fn` as `run` does and return the record of every instruction, with value or error.

    Whatever `fn` raises is the error, SystemExit too; Unsupported and KeyboardInterrupt are raised.
    """
    _check(fn)
    recorder, value, raised = Recorder(), None, None
    try:
        value = Machine(sys._getframe(1), recorder.watch).call(fn, *args, **kwargs)
    except (Unsupported, KeyboardInterrupt):
        raise
    except BaseException as error:
        raised = error
    return Trace(tuple(recorder.steps), value, raised, recorder.cut)


def handled() -> frozenset[str]:
    """Return the names of the opcodes that have a handler, of all three versions."""
    return frozenset(HANDLERS)


def can_run(code: CodeType) -> bool:
    """Say whether every opcode of `code` (not of the code objects in it) has a handler."""
    return not missing(code)


def _check(fn):
    if sys.version_info[:2] not in VERSIONS:
        known = ", ".join(f"{major}.{minor}" for major, minor in VERSIONS)
        raise Unsupported(f"this machine knows the bytecode of CPython {known}, not of this Python")
    if type(fn) is not FunctionType and type(fn) is not MethodType:
        name = fn.__name__ if type(fn) is BuiltinFunctionType else ""
        name = _NAME(fn) if is_a(fn, type) else name
        told = f"{kind_of(fn)} '{printable(name)}'" if name else kind_of(fn)
        raise TypeError(f"the machine runs Python functions, such as def makes; {told} is none")
