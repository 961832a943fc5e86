"""A stack machine for CPython's own bytecode: a function and its arguments -> what it returns.

`run(fn, *args, **kwargs)` evaluates the bytecode of `fn`, and of every Python function that it
calls, one plain instruction after another, on CPython 3.11, 3.12 and 3.13. Async code stays out.
`machine(*steps)` is a machine with only the handlers of these classes; in
`machine(Mine, *WHOLE)` a learner's own take the place of the machine's.

CPython runs what C code calls back by itself (the key of `sorted`, a property, an operator's
method, the body of a class) and what `eval` and `exec` are given. An exception keeps its type,
message, cause, context and a traceback with the program's lines.
"""

# ruff: noqa: F401 - what is imported here is offered

import sys
from types import FunctionType, MethodType

from ...safety.arguments import real_type_name
from .decoder import plain
from .instructions import (
    NULL,
    Halt,
    Missing,
    Unsupported,
    Unwritten,
    plain_names,
)
from .loop import Loop, machine, opcodes, or_finished, written
from .more_handlers import More
from .steps import ARITHMETIC, COMPARISON, STEPS

VERSIONS = ((3, 11), (3, 12), (3, 13))
WHOLE = (*STEPS, More)
Machine = machine(*WHOLE)


def run(fn, /, *args, **kwargs):
    """Return what `fn(*args, **kwargs)` would return, or raise what it would raise.

    TypeError unless `fn` is a Python function; Unsupported for async code, or another Python.
    """
    if sys.version_info[:2] not in VERSIONS:
        known = ", ".join(f"{major}.{minor}" for major, minor in VERSIONS)
        raise Unsupported(f"this machine knows the bytecode of CPython {known}, not of this Python")
    if type(fn) not in (FunctionType, MethodType):
        kind = real_type_name(fn)
        raise TypeError(f"the machine runs Python functions, such as those made by def, not {kind}")
    return Machine().run(fn, *args, **kwargs)
