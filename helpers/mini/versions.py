"""How the bytecode of CPython 3.11, 3.12 and 3.13 differs, for all code here that reads bytecode.

The names of opcodes come from `dis`, so they are those of the Python that runs now.
"""

import dis
import sys

VERSION = sys.version_info[:2]
# CPython pushes a callable and a NULL for a call: the NULL is above the callable since 3.13.
NULL_ABOVE = VERSION >= (3, 13)
# Since 3.12 the lowest bit of LOAD_ATTR's argument says that a call follows; in 3.11 LOAD_METHOD
# does.
METHODS_BY_BIT = VERSION >= (3, 12)
JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "INTERPRETER_EXIT")
# opcode name -> the name of an opcode that does the same for a reader
_NORMALIZED = {
    "JUMP_FORWARD": "JUMP",
    "JUMP_BACKWARD": "JUMP",
    "JUMP_BACKWARD_NO_INTERRUPT": "JUMP",
    "LOAD_FAST_CHECK": "LOAD_FAST",
}


def normalize_opname(opname: str) -> str:
    """Return the name of an opcode without what differs between versions of CPython.

    "JUMP_BACKWARD" -> "JUMP", "POP_JUMP_FORWARD_IF_TRUE" -> "POP_JUMP_IF_TRUE".
    """
    name = opname.replace("JUMP_FORWARD_IF", "JUMP_IF").replace("JUMP_BACKWARD_IF", "JUMP_IF")
    return _NORMALIZED.get(name, name)


def is_never_followed(opname: str) -> bool:
    """Return whether the instruction behind one of this name never runs right after it.

    That is so for a return, a raise, and an unconditional jump.
    """
    return opname in ENDS or (opname.startswith("JUMP_") and not opname.startswith("JUMP_IF"))


def find_stack_effect(instruction: dis.Instruction, jump: bool) -> int:
    """Return by how many values an instruction changes the depth of the stack: -1 for a pop.

    `jump` is true for the case that the instruction jumps. Where `dis.stack_effect` differs from
    what the interpreter does, this is what the interpreter does.
    """
    name = instruction.opname
    if name == "RETURN_GENERATOR":
        return 1  # the value that the first `send` passes in is on the stack after it
    # For a call in 3.11, `dis` counts the popped arguments at PRECALL. In fact CALL pops them.
    if VERSION < (3, 12) and name == "PRECALL":
        return 0
    if VERSION < (3, 12) and name == "CALL":
        return -(instruction.arg + 1)

    has_argument = instruction.opcode >= dis.HAVE_ARGUMENT
    argument = instruction.arg if has_argument else None
    try:
        return dis.stack_effect(instruction.opcode, argument, jump=jump)
    except ValueError:  # `dis` has no number for an opcode that only the interpreter inserts
        return 0


def pushes_pair(instruction: dis.Instruction) -> bool:
    """Return whether an instruction pushes a NULL (or the `self` of a method) for a later call."""
    name = instruction.opname
    if name in ("PUSH_NULL", "LOAD_METHOD"):
        return True
    # The lowest bit of the argument of these says whether a call follows.
    has_call_bit = name in ("LOAD_GLOBAL", "LOAD_SUPER_ATTR")
    if METHODS_BY_BIT and name == "LOAD_ATTR":
        has_call_bit = True
    return has_call_bit and bool(instruction.arg & 1)
