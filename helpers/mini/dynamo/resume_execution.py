"""A function and a place in it -> a function that goes on from there, given locals and stack.

It is the same bytecode behind a prologue that puts the values on the stack and jumps. That works
because all jumps are relative since 3.11. Mirrors torch/_dynamo/resume_execution.py.
"""

import dis
from types import FunctionType

from helpers.mini.dynamo.symbolic_values import NULL, Refuse

NO_CELLS = "a graph break in a function that shares variables with another one"


def resume_function(fn: FunctionType, offset: int, layout: tuple, name: str) -> FunctionType:
    """Return a function of all the local names of `fn` and then of the values on the stack.

    `layout`: NULL or anything else, per place on the stack from below. Refuse where the code's
    variables are shared or its blocks handle exceptions.
    """
    code = fn.__code__
    if code.co_exceptiontable or code.co_cellvars or code.co_freevars:
        raise Refuse(NO_CELLS)
    names = (*code.co_varnames, *(f"stack_{i}" for i, s in enumerate(layout) if s is not NULL))
    prologue = _prologue(layout, len(code.co_varnames), offset // 2)
    fresh = code.replace(
        co_name=name,
        co_qualname=name,
        co_argcount=len(names),
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_nlocals=len(names),
        co_flags=code.co_flags & ~0xC,
        co_varnames=names,
        co_code=prologue + code.co_code,
        co_linetable=_no_lines(len(prologue) // 2) + code.co_linetable,
        co_stacksize=max(code.co_stacksize, len(layout) + 1),
    )
    return FunctionType(fresh, fn.__globals__, name)


def prologue_length(layout: tuple, variables: int, offset: int) -> int:
    """Return by how many bytes the code of `resume_function` is moved."""
    return len(_prologue(layout, variables, offset // 2))


def _prologue(layout, variables, units) -> bytes:
    made, place = _instruction("RESUME", 0), variables
    for value in layout:
        if value is NULL:
            made += _instruction("PUSH_NULL", 0)
        else:
            made += _instruction("LOAD_FAST", place)
            place += 1
    return made + _instruction("JUMP_FORWARD", units)


def _instruction(name: str, arg: int) -> bytes:
    wide = b"".join(
        bytes([dis.opmap["EXTENDED_ARG"], arg >> shift & 255])
        for shift in (24, 16, 8)
        if arg >> shift
    )
    return wide + bytes([dis.opmap[name], arg & 255])


def _no_lines(units: int) -> bytes:
    """Return the part of a line table that says of instructions that they have no line."""
    table = b""
    while units:
        here = min(units, 8)
        table += bytes([0x80 | 15 << 3 | here - 1])
        units -= here
    return table
