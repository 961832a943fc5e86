"""Makes resume functions: each runs the rest of a function, from an instruction on. A resume
function has the same bytecode behind a *prologue*, which pushes the saved stack and jumps to the
instruction. `Code` says which instruction reads which local. Copied bytecode works because all
jumps are relative since 3.11. Mirrors torch/_dynamo/resume_execution.py and bytecode_analysis.py.
"""

import dis
from types import CodeType, FunctionType
from typing import NamedTuple

from ..versions import ENDS, JUMPS, normalize_opname
from .symbolic_values import NULL, SkipFrame

# The kind of an entry of a line table that belongs to no line (Objects/locations.md of CPython).
NO_LINE = 0x80 | 15 << 3
UNITS_PER_ENTRY = 8  # an entry of a line table is for at most so many code units of two bytes


class Step(NamedTuple):
    """One instruction of a code object."""

    #: The opcode's name, the same for 3.11 to 3.13: "JUMP" for a jump in either direction.
    opname: str
    #: The number in the bytecode, or None.
    arg: int | None
    #: What the number stands for, such as a name or a constant.
    value: object
    #: The same as text, as `dis` shows it, such as "+=".
    text: str
    #: The offset of the instruction in `co_code`, in bytes.
    offset: int
    #: The line, where the first line of the function is 1.
    line: int
    #: The position in `Code.steps` of the step that it may jump to, or -1.
    target: int
    #: ("LOAD" or "STORE", name) of each local that it loads or stores.
    locals: list[tuple[str, str]]


class Code:
    """The instructions of a code object in a list, `steps`. A *position* is an index of it."""

    def __init__(self, code: CodeType):
        """Decode the instructions of a code object."""
        self.code = code
        self.steps = []
        instructions = list(dis.get_instructions(code))
        # offset in bytes -> position
        positions = {instruction.offset: index for index, instruction in enumerate(instructions)}
        line = code.co_firstlineno

        for instruction in instructions:
            line = instruction.positions.lineno or line  # no line: that of the instruction before
            target = -1
            if instruction.opcode in JUMPS:
                target = positions[instruction.argval]
            step = Step(
                opname=normalize_opname(instruction.opname),
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
        """Return the positions of the steps that can run next.

        There is none after a return or a raise, and there are two after a conditional jump.
        """
        step = self.steps[position]
        if step.opname in ENDS:
            return []
        following = []
        if step.opname != "JUMP":  # an unconditional jump never goes on to the next step
            following.append(position + 1)
        if step.target >= 0:
            following.append(step.target)
        return following

    def reads(self, position: int) -> set[str]:
        """Return the local names whose values from before the step the step reads.

        A fused STORE_FAST_LOAD_FAST that loads the name that it has just stored does not read it.
        """
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
        """Return whether the step is in a loop: some path leads from it back to it."""
        visited = set()
        waiting = self.after(position)
        while waiting:
            reached = waiting.pop()
            if reached not in visited:
                visited.add(reached)
                waiting += self.after(reached)
        return position in visited


def _list_locals(instruction) -> list[tuple[str, str]]:
    """Return ("LOAD" or "STORE", name) for each local that an instruction loads or stores.

    An opcode such as LOAD_FAST has one. A fused opcode of 3.13 has two.
    """
    # "STORE_FAST_LOAD_FAST" -> ["STORE", "LOAD"]; an opcode without "_FAST" -> []
    *before, _ = normalize_opname(instruction.opname).split("_FAST")
    kinds = [part.strip("_") for part in before]
    if not kinds:
        return []
    names = instruction.argval
    if not isinstance(names, tuple):
        names = (names,)
    return list(zip(kinds, names, strict=True))


def make_resume_function(fn: FunctionType, offset: int, layout: tuple, name: str) -> tuple:
    """Return (a function that runs `fn` from an offset on, its prologue's size in bytes).

    The parameters of the new function are all local names of `fn`, then one for each value on the
    stack of `fn` at that offset. `layout` describes this stack from the bottom: NULL for a NULL,
    any other object for a value. The offset of each instruction of `fn` grows by the size of the
    prologue. SkipFrame is raised if `fn` has free variables.
    """
    code = fn.__code__
    if code.co_freevars:
        raise SkipFrame("a graph break in a function that shares variables with another one")
    names = list(code.co_varnames)
    # The prologue pushes what was on the stack of `fn`, then jumps to the offset in its code.
    prologue = _instruction("RESUME", 0)
    for entry in layout:
        if entry is NULL:
            prologue += _instruction("PUSH_NULL", 0)
        else:
            prologue += _instruction("LOAD_FAST", len(names))
            names.append(f"stack_{len(names) - len(code.co_varnames)}")
    prologue += _instruction("JUMP_FORWARD", offset // 2)  # jumps count in code units of two bytes

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
    """Return the part of a line table (`co_linetable`) that gives this bytecode no line.

    An entry is one byte. It is for 1 to 8 code units, and its three lowest bits are that number
    less 1.
    """
    table = bytearray()
    unit_count = len(bytecode) // 2
    for first in range(0, unit_count, UNITS_PER_ENTRY):
        length = min(unit_count - first, UNITS_PER_ENTRY)
        table.append(NO_LINE | length - 1)
    return bytes(table)


def _instruction(name: str, arg: int) -> bytes:
    """Return the bytes of one instruction, of two bytes: the opcode and its argument.

    An argument above 255 has its higher bytes in EXTENDED_ARG instructions before it.
    """
    bytecode = b""
    for shift in (24, 16, 8):
        if arg >> shift:
            bytecode += bytes((dis.opmap["EXTENDED_ARG"], arg >> shift & 255))
    return bytecode + bytes((dis.opmap[name], arg & 255))
