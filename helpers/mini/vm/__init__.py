"""A stack machine for CPython's own bytecode: a function and its arguments -> what it returns.

`run(fn, *args, **kwargs)` evaluates the bytecode of `fn`, and of every Python function that it
calls, one plain instruction after another, on CPython 3.11, 3.12 and 3.13. Async code stays out.
`machine(*steps)` is a machine with the handlers of these classes alone; in
`machine(Mine, *WHOLE)` a learner's own take the place of the machine's.

What C code calls back by itself (the key of `sorted`, a property, the method of an operator), and
the code that `eval` and `exec` are given, CPython runs. An exception keeps its type, message, cause
and context; its traceback has an entry for each frame of the program, with its line, by a frame of
CPython's that has its code's name and no locals. Who asks for a frame gets the machine's own, which
`inspect` takes for one. What the machine does not hide: who sets a tracer (`sys.settrace`) traces
the machine, `warnings.warn` counts its levels in the machine, `gi_code` and `gi_frame` of its
generators show the code that drives them, and a frame's `f_locals` are a copy, on 3.13 too.
"""

# ruff: noqa: F401 - what is imported here is offered

import sys
from types import FunctionType, MethodType

from helpers.mini.vm.data_handlers import DATA
from helpers.mini.vm.flow_handlers import FLOW
from helpers.mini.vm.instructions import (
    NULL,
    Halt,
    Missing,
    Plain,
    Unsupported,
    Unwritten,
    plain,
    plain_names,
)
from helpers.mini.vm.loop import Loop, Prepared, machine, opcodes, written
from helpers.mini.vm.steps import ARITHMETIC, COMPARISON, STEPS
from helpers.safety.arguments import kind_of, printable

VERSIONS = ((3, 11), (3, 12), (3, 13))
WHOLE = (*STEPS, *DATA, *FLOW)
Machine = machine(*WHOLE, Prepared)


def run(fn, /, *args, **kwargs):
    """Return what `fn(*args, **kwargs)` would return, or raise what it would raise.

    Raises:
        TypeError: `fn` is no Python function and no method of one.
        Unsupported: the code is async, or this Python is not one of 3.11, 3.12 and 3.13.
    """
    if sys.version_info[:2] not in VERSIONS:
        known = ", ".join(f"{major}.{minor}" for major, minor in VERSIONS)
        raise Unsupported(f"this machine knows the bytecode of CPython {known}, not of this Python")
    if type(fn) not in (FunctionType, MethodType):
        name = getattr(fn, "__name__", "") if callable(fn) else ""
        told = f"{kind_of(fn)} '{printable(name)}'" if type(name) is str and name else kind_of(fn)
        raise TypeError(f"the machine runs Python functions, such as def makes; {told} is none")
    return Machine().run(fn, *args, **kwargs)
