"""Intrinsics (3.12 and later): rare work behind one opcode, named by a second table.

Those with an idea of their own are plain instructions, or stand here. Those that only make typing
objects (`def f[T]`, `type X = …`) are CPython's own: a tiny code object asks for them.
"""

# ruff: noqa: N802 - a handler is named for its opcode

import dis
import sys
from functools import cache

from helpers.mini.vm.values import Unsupported


class Intrinsics:
    """CPython's second table of instructions, and what the prompt does with a value."""

    def CALL_INTRINSIC_1(self, name, number):
        """[value] → [what the intrinsic makes of it]"""
        if "ASYNC" in name:
            raise Unsupported("this machine runs no async code, and here is an async generator")
        stops = name == "INTRINSIC_STOPITERATION_ERROR"
        made = _stopped if stops else _native("CALL_INTRINSIC_1", number)
        self.push(made(self.pop()))

    def CALL_INTRINSIC_2(self, name, number):
        """[first, second] → [what the intrinsic makes of them]"""
        self.push(_native("CALL_INTRINSIC_2", number)(*self.take(2)))

    def PRINT_EXPR(self):
        """[value] → []: what the interactive prompt does with a value"""
        self.call(sys.displayhook, self.pop())


def _stopped(error):
    """A StopIteration that would leave a generator becomes a RuntimeError (PEP 479)."""
    if not isinstance(error, StopIteration):
        return error
    told = RuntimeError("generator raised StopIteration")
    told.__cause__ = told.__context__ = error
    return told


@cache
def _native(opname: str, number: int):
    """Return a function of one or two arguments whose body is this one instruction."""
    template = (lambda value: value) if opname.endswith("1") else (lambda first, second: first)
    loads = [("LOAD_FAST", slot) for slot in range(template.__code__.co_argcount)]
    steps = [("RESUME", 0), *loads, (opname, number), ("RETURN_VALUE", 0)]
    body = bytes(byte for name, argument in steps for byte in (dis.opmap[name], argument))
    template.__code__ = template.__code__.replace(co_code=body, co_stacksize=3)
    return template
