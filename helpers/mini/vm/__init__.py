"""A stack machine, written in Python, that runs CPython's own bytecode.

`run(fn, *args, **kwargs)` evaluates the bytecode of `fn`, and of every Python function that `fn`
calls, on CPython 3.11, 3.12 and 3.13. The machine first replaces CPython's instructions by *plain*
ones, which are simpler and the same on each version. Async code is not supported.

A *handler* is a method that executes one kind of plain instruction, such as LOAD_FAST. A *step* is
a class of handlers. `machine(*steps)` is a machine with only the handlers of these classes. In
`machine(Mine, *WHOLE)`, the handlers of a learner's class `Mine` replace those of the same names.

Some Python code is run by CPython: what C code calls (the key function of `sorted`, a property, an
operator's method, the body of a class), and what `eval` and `exec` get. An exception keeps its
type, message, cause, context and a traceback with the program's lines.
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

    TypeError unless `fn` is a Python function or method. Unsupported for async code, and on a
    version of Python that is not in `VERSIONS`.
    """
    if sys.version_info[:2] not in VERSIONS:
        known = ", ".join(f"{major}.{minor}" for major, minor in VERSIONS)
        raise Unsupported(f"this machine knows the bytecode of CPython {known}, not of this Python")
    if type(fn) not in (FunctionType, MethodType):
        kind = real_type_name(fn)
        raise TypeError(f"the machine runs Python functions, such as those made by def, not {kind}")
    return Machine().run(fn, *args, **kwargs)
