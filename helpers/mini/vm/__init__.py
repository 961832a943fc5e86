"""A stack machine for CPython's own bytecode: a function and its arguments -> what it returns.

`run(fn, *args, **kwargs)` evaluates the bytecode of `fn`, and of every Python function that it
calls, one plain instruction after another, on CPython 3.11, 3.12 and 3.13. Async code stays out.
`machine(*steps)` is a machine with the handlers of these classes alone; in
`machine(Mine, *WHOLE)` a learner's own take the place of the machine's.

What C code calls back by itself (the key of `sorted`, a property, `__hash__`) CPython runs. An
exception keeps its type, message, cause and context; its traceback has an entry for each frame of
the program, with its line, by a frame of CPython's that has its code's name and no locals. Who asks
for a frame gets the machine's own, which `inspect` takes for one; who sets a tracer
(`sys.settrace`) traces the machine. Seen from outside, its generators show the code that drives
them.
"""

import sys
from types import BuiltinFunctionType, FunctionType, MethodType

from helpers.mini.vm.beyond import BEYOND
from helpers.mini.vm.instructions import Plain, plain, plain_names
from helpers.mini.vm.loop import Loop
from helpers.mini.vm.machine_from_steps import machine, opcodes, written
from helpers.mini.vm.special import ARITHMETIC, COMPARISON
from helpers.mini.vm.steps import STEPS
from helpers.mini.vm.values import NULL, Halt, Missing, Unsupported, Unwritten
from helpers.safety.arguments import is_a, kind_of, printable

_NAME = type.__dict__["__name__"].__get__
VERSIONS = ((3, 11), (3, 12), (3, 13))
WHOLE = (*STEPS, *BEYOND)
Machine = machine(*WHOLE)

__all__ = [
    "ARITHMETIC",
    "COMPARISON",
    "NULL",
    "STEPS",
    "WHOLE",
    "Halt",
    "Loop",
    "Machine",
    "Missing",
    "Plain",
    "Unsupported",
    "Unwritten",
    "machine",
    "opcodes",
    "plain",
    "plain_names",
    "run",
    "written",
]


def run(fn, /, *args, **kwargs):
    """Return what `fn(*args, **kwargs)` would return, or raise what it would raise.

    Raises:
        TypeError: `fn` is no Python function and no method of one.
        Unsupported: the code is async, or this Python is not one of 3.11, 3.12 and 3.13.
    """
    if sys.version_info[:2] not in VERSIONS:
        known = ", ".join(f"{major}.{minor}" for major, minor in VERSIONS)
        raise Unsupported(f"this machine knows the bytecode of CPython {known}, not of this Python")
    if type(fn) is not FunctionType and type(fn) is not MethodType:
        name = fn.__name__ if type(fn) is BuiltinFunctionType else ""
        name = _NAME(fn) if is_a(fn, type) else name
        told = f"{kind_of(fn)} '{printable(name)}'" if name else kind_of(fn)
        raise TypeError(f"the machine runs Python functions, such as def makes; {told} is none")
    return Machine().run(fn, *args, **kwargs)
