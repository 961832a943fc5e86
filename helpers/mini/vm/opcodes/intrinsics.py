"""Intrinsics (3.12 and later): rare work behind one opcode, named by a second table.

Those with an idea of their own are written out here, by name. Those that only make typing objects
(`def f[T]`, `type X = …`) are CPython's own: a tiny code object asks for them.
"""

import dis
import sys
from functools import cache

from helpers.mini.vm.opcodes import containers, exceptions, modules, operators
from helpers.mini.vm.opcodes.registry import opcode
from helpers.mini.vm.values import Unsupported


def _named(instruction, code, slots):
    """Feed a handler the intrinsic's name, which `dis` knows, and its number."""
    return instruction.argrepr, instruction.arg


@opcode("CALL_INTRINSIC_1", argument=_named)
def call_intrinsic_1(frame, wanted):
    """[value] → [what the intrinsic makes of it]"""
    name, number = wanted
    if name in UNARY:
        UNARY[name](frame, 0)
    elif "ASYNC" in name:
        raise Unsupported("this machine runs no async code, and here is an async generator")
    else:
        frame.stack[-1] = _native("CALL_INTRINSIC_1", number)(frame.stack[-1])


@opcode("CALL_INTRINSIC_2", argument=_named)
def call_intrinsic_2(frame, wanted):
    """[first, second] → [what the intrinsic makes of them]"""
    name, number = wanted
    if name == "INTRINSIC_PREP_RERAISE_STAR":
        exceptions.prep_reraise_star(frame, 0)
    else:
        second = frame.stack.pop()
        frame.stack[-1] = _native("CALL_INTRINSIC_2", number)(frame.stack[-1], second)


@opcode("PRINT_EXPR")
def print_expr(frame, _):
    """[value] → []: what the interactive prompt does with a value"""
    frame.machine.call(sys.displayhook, frame.stack.pop())


def _print(frame, _):
    frame.machine.call(sys.displayhook, frame.stack[-1])
    frame.stack[-1] = None


def _import_star(frame, _):
    modules.copy_public_names(frame.stack[-1], frame.names)
    frame.stack[-1] = None


def _stop_iteration_error(frame, _):
    """A StopIteration that would leave a generator becomes a RuntimeError (PEP 479)."""
    error = frame.stack[-1]
    if isinstance(error, StopIteration):
        frame.stack[-1] = RuntimeError("generator raised StopIteration")
        frame.stack[-1].__cause__ = frame.stack[-1].__context__ = error


UNARY = {
    "INTRINSIC_PRINT": _print,
    "INTRINSIC_IMPORT_STAR": _import_star,
    "INTRINSIC_STOPITERATION_ERROR": _stop_iteration_error,
    "INTRINSIC_UNARY_POSITIVE": operators.unary_positive,
    "INTRINSIC_LIST_TO_TUPLE": containers.list_to_tuple,
}


@cache
def _native(opname: str, number: int):
    """Return a function of one or two arguments whose body is this one instruction."""
    template = (lambda value: value) if opname.endswith("1") else (lambda first, second: first)
    loads = [("LOAD_FAST", slot) for slot in range(template.__code__.co_argcount)]
    steps = [("RESUME", 0), *loads, (opname, number), ("RETURN_VALUE", 0)]
    body = bytes(byte for name, argument in steps for byte in (dis.opmap[name], argument))
    template.__code__ = template.__code__.replace(co_code=body, co_stacksize=3)
    return template
