"""A function and a place in it -> what the rest can read, and a function that continues from there.

The rest of a function is the same bytecode behind a prologue that puts the values on the stack and
jumps. That works because all jumps are relative since 3.11. Mirrors
torch/_dynamo/resume_execution.py and bytecode_analysis.py.
"""

import dis
from types import CodeType, FunctionType
from typing import NamedTuple

from ..versions import ENDS, JUMPS, one_name
from .symbolic_values import NULL, Refuse

# The kind of an entry of a line table that belongs to no line (Objects/locations.md of CPython).
NO_LINE = 0x80 | 15 << 3
UNITS_AN_ENTRY = 8


class Step(NamedTuple):
    """One instruction of a code object."""

    #: The opcode, without what differs by version.
    opname: str
    #: The number in the bytecode, or None.
    arg: int | None
    #: What the number stands for: a name, a constant.
    value: object
    #: The same in words, as `dis` shows it.
    text: str
    #: Where it begins, in bytes.
    offset: int
    #: The line, counted from the first of the function, which is 1.
    line: int
    #: The position that it may jump to, -1 for none.
    target: int
    #: ("LOAD" or "STORE", name) of each local that it loads or stores.
    locals: list[tuple[str, str]]


class Code:
    """The steps of a code object, by position: their numbers in a list, the first is 0."""

    def __init__(self, code: CodeType):
        """Decode the instructions of a code object."""
        self.code = code
        self.steps = []
        instructions = list(dis.get_instructions(code))
        positions = {instruction.offset: index for index, instruction in enumerate(instructions)}
        line = code.co_firstlineno

        for instruction in instructions:
            line = instruction.positions.lineno or line
            target = -1
            if instruction.opcode in JUMPS:
                target = positions[instruction.argval]
            step = Step(
                opname=one_name(instruction.opname),
                arg=instruction.arg,
                value=instruction.argval,
                text=instruction.argrepr,
                offset=instruction.offset,
                line=line - code.co_firstlineno + 1,
                target=target,
                locals=_list_locals(instruction),
            )
            self.steps.append(step)

    def after(self, position: int) -> list[int]:
        """Return the positions of the steps that can run next: none, one, or two at a branch."""
        step = self.steps[position]
        if step.opname in ENDS:
            return []
        following = []
        if step.opname != "JUMP":
            following.append(position + 1)
        if step.target >= 0:
            following.append(step.target)
        return following

    def reads(self, position: int) -> set[str]:
        """Return the local names that a step reads, unless it has just stored them itself."""
        read = set()
        stored = set()
        for kind, name in self.steps[position].locals:
            if kind == "STORE":
                stored.add(name)
            elif name not in stored:
                read.add(name)
        return read

    def stores(self, position: int) -> set[str]:
        """Return the local names that a step stores."""
        return {name for kind, name in self.steps[position].locals if kind == "STORE"}

    def in_a_loop(self, position: int) -> bool:
        """Return whether the step can run again after it has run."""
        visited = set()
        waiting = self.after(position)
        while waiting:
            here = waiting.pop()
            if here not in visited:
                visited.add(here)
                waiting += self.after(here)
        return position in visited


def _list_locals(instruction) -> list[tuple[str, str]]:
    """Return the kind and the name of each local of a LOAD_FAST, STORE_FAST, or a fused one."""
    # "LOAD_FAST_STORE_FAST" -> ["LOAD", "STORE"]; [] of an opcode without "_FAST"
    *before, _ = one_name(instruction.opname).split("_FAST")
    kinds = [part.strip("_") for part in before]
    if not kinds:
        return []
    names = instruction.argval
    if not isinstance(names, tuple):
        names = (names,)
    return list(zip(kinds, names, strict=True))


def make_resume_function(fn: FunctionType, offset: int, layout: tuple, name: str) -> tuple:
    """Return a function that continues `fn` at an offset, and the size of what is put before it.

    The parameters of the new function are all local names of `fn`, then a name for each value on
    its stack. `layout` has an entry for each place on that stack, from below: NULL, or any other
    object for a value. The size is in bytes, by which the code of `fn` is moved. Refuse if the
    code shares variables with another function.
    """
    code = fn.__code__
    if code.co_freevars:
        raise Refuse("a graph break in a function that shares variables with another one")
    names = list(code.co_varnames)
    # The prologue puts on the stack what was on it, then jumps to the place in the old code.
    prologue = _instruction("RESUME", 0)
    for value in layout:
        if value is NULL:
            prologue += _instruction("PUSH_NULL", 0)
        else:
            prologue += _instruction("LOAD_FAST", len(names))
            names.append(f"stack_{len(names) - len(code.co_varnames)}")
    prologue += _instruction("JUMP_FORWARD", offset // 2)  # in units of two bytes

    resumed_code = code.replace(
        co_name=name,
        co_qualname=name,
        co_argcount=len(names),
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_nlocals=len(names),
        co_varnames=tuple(names),
        co_stacksize=max(code.co_stacksize, len(layout) + 1),
        co_code=prologue + code.co_code,
        co_linetable=_without_lines(prologue) + code.co_linetable,
    )
    return FunctionType(resumed_code, fn.__globals__, name), len(prologue)


def _without_lines(bytecode: bytes) -> bytes:
    """Return a line table (`co_linetable`) in which these bytes of code belong to no line.

    An entry is for 1 to 8 units of two bytes; its lowest bits are that number less 1.
    """
    table = bytearray()
    unit_count = len(bytecode) // 2
    for first in range(0, unit_count, UNITS_AN_ENTRY):
        length = min(unit_count - first, UNITS_AN_ENTRY)
        table.append(NO_LINE | length - 1)
    return bytes(table)


def _instruction(name: str, arg: int) -> bytes:
    """Return one instruction, an EXTENDED_ARG before it for each further byte of its argument."""
    bytecode = b""
    for shift in (24, 16, 8):
        if arg >> shift:
            bytecode += bytes((dis.opmap["EXTENDED_ARG"], arg >> shift & 255))
    return bytecode + bytes((dis.opmap[name], arg & 255))
