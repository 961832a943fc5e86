"""The handlers: one small function per opcode, grouped by the idea that it serves.

A handler takes (frame, argument) and works on `frame.stack`. It returns None, or the frame to go
on in, or LEAVE. Its docstring is its stack effect, the top of the stack on the right.
"""

from helpers.mini.vm.opcodes import (
    attributes,
    calls,
    containers,
    exceptions,
    generators,
    intrinsics,
    jumps,
    modules,
    names,
    operators,
    patterns,
    stack,
    strings,
)
from helpers.mini.vm.opcodes.registry import ARGUMENTS, HANDLERS

GROUPS = (
    *(stack, names, operators, jumps, containers, strings, attributes, calls),
    *(exceptions, generators, patterns, modules, intrinsics),
)

__all__ = ["ARGUMENTS", "GROUPS", "HANDLERS"]
