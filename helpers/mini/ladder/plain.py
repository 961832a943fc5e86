"""A code object -> plain instructions: the ideas of its bytecode, without the version's noise.

What is left out: NULLs beside callables, inline caches, instructions that do nothing, and fused
ones, which are taken apart. Every name that is left is one that `dis` shows on some supported
Python; JUMP stands for the jumps that have no condition.
"""

import dis
import sys
from dataclasses import dataclass
from types import CodeType

DROPPED = {
    *("CACHE", "EXTENDED_ARG", "NOP", "RESUME", "PRECALL", "PUSH_NULL", "KW_NAMES", "TO_BOOL"),
    *("MAKE_CELL", "COPY_FREE_VARS", "END_FOR", "SET_FUNCTION_ATTRIBUTE"),
}
RENAMED = {
    "LOAD_FAST_CHECK": "LOAD_FAST",
    "LOAD_METHOD": "LOAD_ATTR",
    "CALL_KW": "CALL",
    "JUMP_FORWARD": "JUMP",
    "JUMP_BACKWARD": "JUMP",
    "JUMP_BACKWARD_NO_INTERRUPT": "JUMP",
}
APART = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "RETURN_CONST": ("LOAD_CONST", "RETURN_VALUE"),
    "JUMP_IF_TRUE_OR_POP": ("COPY", "POP_JUMP_IF_TRUE", "POP_TOP"),
    "JUMP_IF_FALSE_OR_POP": ("COPY", "POP_JUMP_IF_FALSE", "POP_TOP"),
}
PARTS = {1: "defaults", 2: "kwdefaults", 4: "annotations", 8: "closure"}
# What FOR_ITER leaves for the end of its loop to clean up, it jumps over.
AFTER_LOOP = {(3, 11): 0, (3, 12): 1, (3, 13): 2}.get(sys.version_info[:2], 0)


@dataclass(frozen=True)
class Plain:
    """One plain instruction. `first` is False for the later parts of one that was taken apart.

    `arguments` are what its handler is called with; a jump's one is a position in the list.
    """

    opname: str
    arguments: tuple
    offset: int
    first: bool = True


def plain_names(opname: str) -> tuple[str, ...]:
    """Return the plain instructions that stand for an opcode; none for what is left out."""
    if opname in DROPPED:
        return ()
    if opname in APART:
        return APART[opname]
    return (RENAMED.get(opname, _without_direction(opname)),)


def _without_direction(opname):
    return opname.replace("JUMP_FORWARD_IF", "JUMP_IF").replace("JUMP_BACKWARD_IF", "JUMP_IF")


def plain(code: CodeType) -> tuple[list[Plain], list[tuple]]:
    """Return (plain instructions, exception table with positions in that list).

    A row of the table is (first, last + 1, handler, depth of the stack, push the offset too).
    """
    real = list(dis.get_instructions(code))
    found: list[Plain] = []
    at: dict[int, int] = {}
    waiting = None  # The offset of a TO_BOOL: what follows takes its place.
    for index, instruction in enumerate(real):
        at[instruction.offset] = len(found)
        if instruction.opname == "TO_BOOL":
            waiting = instruction.offset
        parts = _parts(real, index, code)
        if parts and instruction.opname == "CALL_KW":
            at[instruction.offset] = len(found) - 1
            found.pop()  # The names of the keywords, which CALL is given as arguments.
        offset = instruction.offset if waiting is None or not parts else waiting
        found += [Plain(n, a, offset, k == 0) for k, (n, a) in enumerate(parts)]
        waiting = None if parts else waiting
    return _aimed(found, at, len(real) and real[-1].offset + 2, code)


def _parts(real, index, code):
    """Return the plain (name, arguments) pairs of one real instruction."""
    instruction = real[index]
    name, names = instruction.opname, plain_names(instruction.opname)
    if name == "POP_TOP" and index and real[index - 1].opname == "END_FOR" and AFTER_LOOP == 2:
        return []
    if name == "RETURN_CONST":
        return [("LOAD_CONST", (code.co_consts[instruction.arg],)), ("RETURN_VALUE", ())]
    if name in APART and len(names) == 2:
        return [(n, (v,)) for n, v in zip(names, instruction.argval, strict=True)]
    if name in APART:
        return [("COPY", (1,)), (names[1], (_Target(instruction.argval),)), ("POP_TOP", ())]
    cells = code.co_cellvars + code.co_freevars
    if names == ("LOAD_FAST",) and instruction.argval in cells and name == "LOAD_FAST":
        return [("LOAD_CLOSURE", (instruction.argval,))]
    return [(n, _arguments(real, index, code)) for n in names]


def _arguments(real, index, code) -> tuple:
    instruction = real[index]
    name = instruction.opname
    if instruction.opcode in dis.hasjrel:
        return (_Target(instruction.argval, AFTER_LOOP if name == "FOR_ITER" else 0),)
    if name == "LOAD_CONST":
        return (code.co_consts[instruction.arg],)
    if name == "BINARY_OP":
        return (instruction.argrepr,)
    if name in ("CALL", "CALL_KW"):
        return instruction.arg, _keyword_names(real, index, code)
    if name == "MAKE_FUNCTION":
        return _function_parts(real, index)
    if instruction.arg is None:
        return ()
    by_name = instruction.opcode in (*dis.hasname, *dis.haslocal, *dis.hasfree, *dis.hascompare)
    return (instruction.argval if by_name else instruction.arg,)


def _keyword_names(real, index, code) -> tuple[str, ...]:
    before = [i for i in real[:index] if i.opname not in ("PRECALL", "EXTENDED_ARG", "CACHE")]
    if real[index].opname == "CALL_KW" or (before and before[-1].opname == "KW_NAMES"):
        return code.co_consts[before[-1].arg]
    return ()


def _function_parts(real, index) -> tuple[str, ...]:
    """Return the attributes that lie below the code, lowest first."""
    if real[index].arg is not None:
        return tuple(PARTS[flag] for flag in PARTS if real[index].arg & flag)
    given = []
    for instruction in real[index + 1 :]:
        if instruction.opname != "SET_FUNCTION_ATTRIBUTE":
            break
        given.append(PARTS[instruction.arg])
    return tuple(reversed(given))


@dataclass(frozen=True)
class _Target:
    """Where a jump goes, until positions are known: an offset, and instructions to skip there."""

    offset: int
    skip: int = 0


def _aimed(found, at, end, code):
    """Replace offsets by positions in the list."""
    at[end] = len(found)
    guards = [
        (*(_position(at, o) for o in (e.start, e.end, e.target)), e.depth, e.lasti)
        for e in dis._parse_exception_table(code)
    ]
    aimed = [
        Plain(
            step.opname,
            tuple(_position(at, a.offset) if isinstance(a, _Target) else a for a in step.arguments),
            step.offset,
            step.first,
        )
        for step in found
    ]
    return aimed, guards


def _position(at, offset):
    return at[min(o for o in at if o >= offset)]
