"""A small Dynamo: bytecode runs on symbolic values, and becomes a graph with guards before it.

`compile(fn, backend=None)`, also `@compile`, or `with hooked(backend, only=[fn])`. Read it in this
order: values, parts (the five decisive parts), interpreter, calls, tracing, output, resume,
compiling, entries, doors.
"""

from helpers.mini.dynamo.doors import Compiled, compile, eager, hooked
from helpers.mini.dynamo.parts import PARTS, Parts

__all__ = ["PARTS", "Compiled", "Parts", "compile", "eager", "hooked"]
