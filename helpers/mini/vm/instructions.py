"""Plain instructions: a simpler form of CPython's bytecode that is the same on each version.

`decoder` makes them from the real instructions of CPython. An instruction that does two things at
once is taken apart. NULLs beside callables, inline caches and instructions that do nothing are left
out. A plain instruction has a name that `dis` shows on some supported Python, with three
exceptions. JUMP is a jump without a condition. LOAD_SLOT and STORE_SLOT save and restore a variable
whose slot an inlined comprehension uses for its own variable.
"""

import dis
from types import CodeType
from typing import NamedTuple

from ..versions import normalize_opname


class Halt(BaseException):
    """Ends the run of the machine. No `except` of the program that runs in it sees this."""


class Missing(Halt, Exception):
    """The machine has no method for an opcode; the sentence names it."""

    def __init__(self, opname: str):
        """Name the opcode."""
        super().__init__(f"this machine has no method {opname} yet")


class Unwritten(Missing):
    """The method for an opcode is a stub still."""


class Unsupported(Halt, Exception):
    """This machine cannot run that; the sentence says which kind of function it is."""


class _Signal:
    """The type of NULL."""

    def __repr__(self):
        return "NULL"


# Marks a place without a value, such as an unbound local; a program never sees it.
NULL = _Signal()

# CPython's opcodes for which there is no plain instruction.
DROPPED = {
    "CACHE",
    "COPY_FREE_VARS",
    "END_FOR",
    "END_SEND",
    "EXTENDED_ARG",
    "KW_NAMES",
    "MAKE_CELL",
    "NOP",
    "PRECALL",
    "PUSH_NULL",
    "RESUME",
    "SET_FUNCTION_ATTRIBUTE",
    "TO_BOOL",
}
# CPython's opcode -> the plain instruction that does the same.
RENAMED = {
    "LOAD_METHOD": "LOAD_ATTR",
    "CALL_KW": "CALL",
    "FORMAT_SIMPLE": "FORMAT_VALUE",
    "FORMAT_WITH_SPEC": "FORMAT_VALUE",
}
# CPython's opcode -> the plain instructions that together do the same.
# CPython's opcode -> the plain instructions that together do the same.
TAKEN_APART = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "RETURN_CONST": ("LOAD_CONST", "RETURN_VALUE"),
    "JUMP_IF_TRUE_OR_POP": ("COPY", "POP_JUMP_IF_TRUE", "POP_TOP"),
    "JUMP_IF_FALSE_OR_POP": ("COPY", "POP_JUMP_IF_FALSE", "POP_TOP"),
    "BINARY_SLICE": ("BUILD_SLICE", "BINARY_SUBSCR"),
    "STORE_SLICE": ("BUILD_SLICE", "STORE_SUBSCR"),
}
# Opcodes of their own until 3.11, then numbers of CALL_INTRINSIC_1 and CALL_INTRINSIC_2.
INTRINSICS = ("UNARY_POSITIVE", "LIST_TO_TUPLE", "PREP_RERAISE_STAR")


class Plain(NamedTuple):
    """One plain instruction. A tuple, since the loop reads one at each step."""

    opname: str
    #: The arguments with which its handler is called. For a jump, that is the position of another
    #: instruction in the list of plain instructions.
    arguments: tuple
    #: The offset of the real instruction in the bytecode, in bytes.
    offset: int
    #: Whether this is the first or only plain instruction that replaces the real one.
    first: bool = True


def plain_names(opname: str) -> tuple[str, ...]:
    """Return the names of the plain instructions that replace an opcode; () if it is left out.

    For example, RETURN_CONST -> (LOAD_CONST, RETURN_VALUE).
    """
    if opname in DROPPED:
        return ()
    if opname in TAKEN_APART:
        return TAKEN_APART[opname]
    return (RENAMED.get(opname, normalize_opname(opname)),)


def _list_every_name() -> frozenset[str]:
    """Return the names of all plain instructions that this Python's bytecode can become."""
    names = {"LOAD_CLOSURE", "LOAD_SLOT", "STORE_SLOT", *INTRINSICS}
    for opname in dis.opmap:
        names.update(plain_names(opname))
    return frozenset(names)


EVERY_NAME = _list_every_name()


def outer_name(code: CodeType, name: str) -> str:
    """Return the key of a free variable in `frame.cells`: its name, or "outer " and its name.

    The prefix is for code that has a cell variable of the same name as well. Both are in `cells`.
    """
    return f"outer {name}" if name in code.co_cellvars else name
