"""How the bytecode of 3.11, 3.12 and 3.13 differs: facts for all code here that reads bytecode.

Names of opcodes come from `dis`, that is, from the Python that runs now.
"""

import dis
import sys

VERSION = sys.version_info[:2]
NULL_ABOVE = VERSION >= (3, 13)  # the NULL of a call lies above its callable; before, below it
METHODS_BY_BIT = VERSION >= (3, 12)  # of LOAD_ATTR: a call follows; before, LOAD_METHOD says so
JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "INTERPRETER_EXIT")
_ONE_NAME = {
    "JUMP_FORWARD": "JUMP",
    "JUMP_BACKWARD": "JUMP",
    "JUMP_BACKWARD_NO_INTERRUPT": "JUMP",
    "LOAD_FAST_CHECK": "LOAD_FAST",
}


def one_name(opname: str) -> str:
    """Return an opcode's name without what differs by version: the direction of a jump, a check."""
    name = opname.replace("JUMP_FORWARD_IF", "JUMP_IF").replace("JUMP_BACKWARD_IF", "JUMP_IF")
    return _ONE_NAME.get(name, name)


def ends(opname: str) -> bool:
    """Return whether an instruction of this name is never followed by the one behind it.

    It is a return, a raise, or a jump without a condition.
    """
    return opname in ENDS or (opname.startswith("JUMP_") and not opname.startswith("JUMP_IF"))


def effect(instruction: dis.Instruction, jump: bool) -> int:
    """Return by how many values an instruction makes the stack deeper; below 0 for less deep.

    `jump` says whether it jumps. Where `dis` has another number than the real stack, this one is
    right.
    """
    name = instruction.opname
    if name == "RETURN_GENERATOR":
        return 1  # the value that the first send leaves there
    # In 3.11 `dis` counts what a call takes off at PRECALL; it is CALL that takes it off.
    if VERSION < (3, 12) and name == "PRECALL":
        return 0
    if VERSION < (3, 12) and name == "CALL":
        return -(instruction.arg + 1)

    has_argument = instruction.opcode >= dis.HAVE_ARGUMENT
    argument = instruction.arg if has_argument else None
    try:
        return dis.stack_effect(instruction.opcode, argument, jump=jump)
    except ValueError:  # an opcode that only the interpreter itself puts in
        return 0


def pushes_pair(instruction: dis.Instruction) -> bool:
    """Return whether a NULL, or the self of a method, is pushed beside a value."""
    name = instruction.opname
    if name in ("PUSH_NULL", "LOAD_METHOD"):
        return True
    says_by_bit = name in ("LOAD_GLOBAL", "LOAD_SUPER_ATTR")
    if METHODS_BY_BIT and name == "LOAD_ATTR":
        says_by_bit = True
    return says_by_bit and bool(instruction.arg & 1)
