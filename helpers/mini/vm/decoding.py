"""A code object -> what the machine runs: a handler and its argument for every instruction.

Names of opcodes come from `dis`, that is, from the interpreter that runs now. Offsets become
positions in a list, so that a jump is an assignment to `frame.pc`.
"""

import dis
import inspect
import sys
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FrameType, FunctionType

from helpers.mini.vm.opcodes import ARGUMENTS, HANDLERS
from helpers.mini.vm.values import Unsupported
from helpers.safety.arguments import printable

# What FOR_ITER leaves for its loop's end to clean up, it skips: END_FOR, and POP_TOP after it.
CLEANED_BY_FOR_ITER = {(3, 11): 0, (3, 12): 1, (3, 13): 2}.get(sys.version_info[:2], 0)


@dataclass(frozen=True)
class Decoded:
    """`steps[i]` is (handler, argument); `offsets[i]` and `opnames[i]` say which instruction it is.

    `guards` is the exception table as (first, last + 1, handler's position, depth, push lasti).
    `names[i]` is the variable in slot i of the frame's array.
    """

    code: CodeType
    steps: list
    offsets: list[int]
    opnames: list[str]
    instructions: list[dis.Instruction]
    guards: list[tuple[int, int, int, int, bool]]
    names: tuple[str, ...]

    def stand_in(self, space: dict) -> FrameType:
        """Return a frame of CPython's for a traceback: of code that only looks like this one."""
        return FunctionType(self._look_alike, space)().gi_frame

    @cached_property
    def _look_alike(self) -> CodeType:
        """Code with the names and lines of this one, whose call makes a generator at once."""
        code = self.code
        size = max(len(code.co_code) // 2, 1)
        body = (dis.opmap["RETURN_GENERATOR"], 0, *(dis.opmap["NOP"], 0) * (size - 1))
        kept = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_COROUTINE)
        return code.replace(
            co_code=bytes(body),
            co_flags=kept | inspect.CO_GENERATOR | inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS,
            co_exceptiontable=b"",
            co_argcount=0,
            co_posonlyargcount=0,
            co_kwonlyargcount=0,
            co_cellvars=(),
            co_freevars=(),
        )

    @property
    def slots(self) -> int:
        """How many locals, cells and free variables a frame of this code has."""
        return len(self.names)


def slot_names(code: CodeType) -> tuple[str, ...]:
    """Return the names of a frame's slots: locals, then cells that are no locals, then frees."""
    cells = [name for name in code.co_cellvars if name not in code.co_varnames]
    return (*code.co_varnames, *cells, *code.co_freevars)


def decode(code: CodeType) -> Decoded:
    """Look every instruction up. Unsupported names the first opcode without a handler."""
    found = [i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "EXTENDED_ARG")]
    offsets = [instruction.offset for instruction in found]
    names = slot_names(code)
    where = _Positions(offsets, len(code.co_code))
    return Decoded(
        code,
        [(_handler(i, code), _argument(i, code, names, where)) for i in found],
        offsets,
        [instruction.opname for instruction in found],
        found,
        [
            (where.at(e.start), where.at(e.end), where.at(e.target), e.depth, e.lasti)
            for e in dis._parse_exception_table(code)
        ],
        names,
    )


def missing(code: CodeType) -> set[str]:
    """Return the opcodes of `code` (not of the code objects in it) that have no handler."""
    used = {instruction.opname for instruction in dis.get_instructions(code)}
    return used - HANDLERS.keys() - {"CACHE", "EXTENDED_ARG"}


def _handler(instruction, code):
    try:
        return HANDLERS[instruction.opname]
    except KeyError:
        raise Unsupported(
            f"this machine has no handler for {instruction.opname}, which "
            f"{printable(code.co_qualname)} needs"
        ) from None


def _argument(instruction, code, names, where):
    """Return what the handler is given: a position to jump to, or what ARGUMENTS makes of it."""
    if instruction.opcode in dis.hasjrel:
        skip = CLEANED_BY_FOR_ITER if instruction.opname == "FOR_ITER" else 0
        return where.at(instruction.argval) + skip
    prepare = ARGUMENTS.get(instruction.opname)
    return prepare(instruction, code, names) if prepare else instruction.arg


class _Positions:
    """Byte offsets -> positions in the list; a prefix (EXTENDED_ARG) counts as what follows it."""

    def __init__(self, offsets: list[int], end: int):
        self._at, position = {}, len(offsets)
        known = {offset: index for index, offset in enumerate(offsets)}
        for offset in range(end, -2, -2):
            position = known.get(offset, position)
            self._at[offset] = position

    def at(self, offset: int) -> int:
        """Return the position of the first instruction at or after this offset."""
        return self._at[offset]
