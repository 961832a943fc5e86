"""The plain instructions: the ideas of CPython's bytecode, without the noise of one version.

What is left out: NULLs beside callables, inline caches, instructions that do nothing, and fused
ones, which are taken apart. Every name that is left is one that `dis` shows on some supported
Python, but for JUMP, a jump without a condition, and LOAD_SLOT and STORE_SLOT, which move whatever
the slot of a variable holds that an inlined comprehension borrows. `decoder` makes them.
"""

import dis
from types import CodeType
from typing import NamedTuple

from ..versions import one_name


class Halt(BaseException):
    """Ends the run: no handler of the program's gets to see it."""


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
RENAMED = {
    "LOAD_METHOD": "LOAD_ATTR",
    "CALL_KW": "CALL",
    "FORMAT_SIMPLE": "FORMAT_VALUE",
    "FORMAT_WITH_SPEC": "FORMAT_VALUE",
}
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
    #: What its handler is called with; a jump's one is a position in the list.
    arguments: tuple
    #: Where the real instruction stands in the bytecode, in bytes.
    offset: int
    #: False for the later parts of an instruction that was taken apart.
    first: bool = True


def plain_names(opname: str) -> tuple[str, ...]:
    """Return the plain instructions that replace an opcode; none for what is left out."""
    if opname in DROPPED:
        return ()
    if opname in TAKEN_APART:
        return TAKEN_APART[opname]
    return (RENAMED.get(opname, one_name(opname)),)


def _list_every_name() -> frozenset[str]:
    """Return the names of all plain instructions that this Python's bytecode can become."""
    names = {"LOAD_CLOSURE", "LOAD_SLOT", "STORE_SLOT", *INTRINSICS}
    for opname in dis.opmap:
        names.update(plain_names(opname))
    return frozenset(names)


EVERY_NAME = _list_every_name()


def outer_name(code: CodeType, name: str) -> str:
    """Return what the machine calls a free variable: its name, or "outer " and its name.

    The latter is for code that has a cell of its own of that name, too.
    """
    return f"outer {name}" if name in code.co_cellvars else name
