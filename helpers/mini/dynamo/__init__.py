"""A small Dynamo: bytecode runs on symbolic values, and becomes a graph with guards before it.

`compile(fn, backend=None)`, also `@compile`, or `with hooked(backend, only=[fn])`. Read it in this
order: values, parts (the five decisive parts), interpreter, calls, tracing, output, resume,
compiling, entries, doors.
"""

from helpers.mini.dynamo.code import Code
from helpers.mini.dynamo.doors import Compiled, compile, eager, entry_for, hooked
from helpers.mini.dynamo.parts import OPERATORS, PARTS, Parts, written
from helpers.mini.dynamo.values import Known, Tensor

__all__ = [
    "OPERATORS",
    "PARTS",
    "Code",
    "Compiled",
    "Known",
    "Parts",
    "Tensor",
    "compile",
    "eager",
    "entry_for",
    "hooked",
    "written",
]
