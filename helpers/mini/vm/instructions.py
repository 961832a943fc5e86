"""A code object -> plain instructions: the ideas of its bytecode, without the version's noise.

What is left out: NULLs beside callables, inline caches, instructions that do nothing, and fused
ones, which are taken apart. Every name that is left is one that `dis` shows on some supported
Python, but for JUMP, a jump without a condition, and LOAD_SLOT and STORE_SLOT, which move whatever
the slot of a variable holds that an inlined comprehension borrows.
"""

import dis
from collections import namedtuple
from itertools import takewhile
from sys import intern
from types import CodeType

from ...internals.interpreter_frame import variables
from ..versions import JUMPS, VERSION, one_name, pushes_pair


class Halt(BaseException):
    """Ends the run: no handler of the program's gets to see it."""


class Missing(Halt, Exception):
    """The machine has no method for an opcode; the sentence names it."""

    def __init__(self, opname: str):
        super().__init__(f"this machine has no method {opname} yet")


class Unwritten(Missing):
    """The method for an opcode is a stub still."""


class Unsupported(Halt, Exception):
    """This machine cannot run that; the sentence says which kind of function it is."""


# Marks a place without a value, such as an unbound local; a program never sees it.
NULL = type("_Signal", (), {"__repr__": lambda self: "NULL"})()

DROPPED = {
    *("CACHE", "EXTENDED_ARG", "NOP", "RESUME", "PRECALL", "PUSH_NULL", "KW_NAMES", "TO_BOOL"),
    *("MAKE_CELL", "COPY_FREE_VARS", "END_FOR", "END_SEND", "SET_FUNCTION_ATTRIBUTE"),
}
RENAMED = {
    "LOAD_METHOD": "LOAD_ATTR",
    "CALL_KW": "CALL",
    "FORMAT_SIMPLE": "FORMAT_VALUE",
    "FORMAT_WITH_SPEC": "FORMAT_VALUE",
}
APART = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "RETURN_CONST": ("LOAD_CONST", "RETURN_VALUE"),
    "JUMP_IF_TRUE_OR_POP": ("COPY", "POP_JUMP_IF_TRUE", "POP_TOP"),
    "JUMP_IF_FALSE_OR_POP": ("COPY", "POP_JUMP_IF_FALSE", "POP_TOP"),
    "BINARY_SLICE": ("BUILD_SLICE", "BINARY_SUBSCR"),
    "STORE_SLICE": ("BUILD_SLICE", "STORE_SUBSCR"),
}
INTRINSICS = ("UNARY_POSITIVE", "LIST_TO_TUPLE", "PREP_RERAISE_STAR")
PARTS = {1: "defaults", 2: "kwdefaults", 4: "annotations", 8: "closure"}
BY_NAME = {*dis.hasname, *dis.haslocal, *dis.hasfree, *dis.hascompare}


# One plain instruction. `first` is False for the later parts of one that was taken apart.
# `arguments` are what its handler is called with; a jump's one is a position in the list.
Plain = namedtuple("Plain", "opname arguments offset first", defaults=(True,))


def plain_names(opname: str) -> tuple[str, ...]:
    """Return the plain instructions that replace an opcode; none for what is left out."""
    if opname in DROPPED:
        return ()
    if opname in APART:
        return APART[opname]
    return (RENAMED.get(opname, one_name(opname)),)


EVERY_NAME = frozenset(
    ["LOAD_CLOSURE", "LOAD_SLOT", "STORE_SLOT", *INTRINSICS]
    + [plain for real in dis.opmap for plain in plain_names(real)]
)


def outer_name(code: CodeType, name: str) -> str:
    """Return what a free variable is called here: code may have a cell of its own by that name."""
    return f"outer {name}" if name in code.co_cellvars else name


_kept: dict[int, tuple] = {}  # by id: equal codes may differ in their constants' types


def plain(code: CodeType) -> tuple[list[Plain], list[tuple]]:
    """Return (plain instructions, exception table with positions in that list), made once.

    A row of the table is (first, last + 1, handler, depth of the stack, push the offset too).
    """
    found = _kept.get(id(code))
    if found is None:
        found = _kept[id(code)] = code, _Decoder(code).decoded()
    return found[1]


class _Decoder:
    """One code object on its way. `found` grows; `at` says at which place in it an offset is."""

    def __init__(self, code):
        self.code, self.found, self.at = code, [], {}
        every = dis.get_instructions(code)
        self.real = [i for i in every if i.opname not in ("CACHE", "EXTENDED_ARG")]
        starts = (i.offset for i in self.real if i.opname == "RESUME")
        self.start = next(starts, len(code.co_code))
        self.borrowed = {i.argval for i in self.real if i.opname == "LOAD_FAST_AND_CLEAR"}
        self.first_free = len(variables(code)) - len(code.co_freevars)
        self.rows = list(dis._parse_exception_table(code))
        self.absent, self.below = find_nulls(self.real, self.rows, code)
        self.keywords = ()  # what KW_NAMES says of the next call

    def decoded(self):
        waiting = None  # The offset of a TO_BOOL: what follows takes its place.
        for index, instruction in enumerate(self.real):
            self.at[instruction.offset] = len(self.found)
            if instruction.opname == "TO_BOOL":
                waiting = instruction.offset
            parts = self._parts(index, instruction)
            offset = instruction.offset if waiting is None or not parts else waiting
            self.found += [(*part, offset, k == 0) for k, part in enumerate(parts)]
            waiting = None if parts else waiting
        at = _filled(self.at, len(self.found), len(self.code.co_code))
        steps = [
            Plain(intern(name), tuple(at[a] if type(a) is _Target else a for a in arguments), *rest)
            for name, arguments, *rest in self.found
        ]
        return steps, [
            (at[r.start], at[r.end], at[r.target], r.depth - self.below[n], r.lasti)
            for n, r in enumerate(self.rows)
        ]

    def _parts(self, index, instruction):
        """Return the plain (name, arguments) pairs of one real instruction."""
        name, names = instruction.opname, plain_names(instruction.opname)
        if name == "POP_TOP" and VERSION >= (3, 13) and self.real[index - 1].opname == "END_FOR":
            return []
        if name == "KW_NAMES":
            self.keywords = self.code.co_consts[instruction.arg]
        if name == "MAKE_CELL" and instruction.offset > self.start:
            return [(name, (self._variable(instruction),))]
        if name == "RETURN_CONST":
            return [("LOAD_CONST", (self.code.co_consts[instruction.arg],)), ("RETURN_VALUE", ())]
        if name.endswith("_SLICE") and len(names) == 2:
            return [(names[0], (2,)), (names[1], ())]
        if name.startswith("JUMP_IF") and len(names) == 3:
            return [("COPY", (1,)), (names[1], (_Target(instruction.argval),)), ("POP_TOP", ())]
        if name in APART:
            pairs = zip(names, instruction.argval, strict=True)
            return [(self._local(n, variable, 0), (variable,)) for n, variable in pairs]
        if name.startswith("CALL_INTRINSIC"):
            intrinsic = instruction.argrepr.removeprefix("INTRINSIC_")
            if intrinsic in INTRINSICS:
                return [(intrinsic, ())]
        if instruction.opcode in dis.haslocal:
            told = (self._variable(instruction),)
            return [(self._local(n, instruction.argval, instruction.arg), told) for n in names]
        truth = [("UNARY_NOT", ())] * 2 if self._is_left_as_bool(index, instruction) else []
        return [(n, self._arguments(index, instruction)) for n in names] + truth

    def _is_left_as_bool(self, index, instruction):
        asks = instruction.opname == "TO_BOOL"
        asks |= VERSION >= (3, 13) and instruction.opname == "COMPARE_OP" and instruction.arg & 16
        later = (i.opname for i in self.real[index + 1 :] if i.opname != "NOP")
        return bool(asks) and not next(later, "").startswith(("POP_JUMP_IF", "UNARY_NOT"))

    def _variable(self, instruction):
        free = instruction.arg >= self.first_free
        return outer_name(self.code, instruction.argval) if free else instruction.argval

    def _local(self, name, variable, slot):
        """Return the name for a load or store of a variable whose slot may hold a cell."""
        if name == "STORE_FAST" and variable in self.borrowed:
            return "STORE_SLOT"
        if name != "LOAD_FAST" or variable not in (*self.code.co_cellvars, *self.code.co_freevars):
            return name
        if variable in self.code.co_freevars:  # a local of a comprehension may have its name, too
            return "LOAD_CLOSURE" if slot >= len(self.code.co_varnames) else name
        if variable not in self.borrowed:
            return "LOAD_CLOSURE"
        return "LOAD_SLOT" if VERSION >= (3, 13) else name

    def _arguments(self, index, instruction) -> tuple:
        name, number = instruction.opname, instruction.arg
        if instruction.opcode in JUMPS:
            return (_Target(instruction.argval),)
        if name in ARGUMENTS:
            return ARGUMENTS[name](instruction)
        if name == "LOAD_CONST":
            return (self.code.co_consts[number],)
        if name in ("CALL", "CALL_KW"):
            return self._call(index, instruction)
        if name == "MAKE_FUNCTION":
            return self._function_parts(index, number)
        if number is None:
            return ()
        if instruction.opcode in dis.hasfree:
            return (self._variable(instruction),)
        return (instruction.argval if instruction.opcode in BY_NAME else number,)

    def _call(self, index, instruction):
        if instruction.opname == "CALL_KW":
            self.keywords = self.found.pop()[1][0]
            self.at[instruction.offset] = len(self.found)
        names, self.keywords = self.keywords, ()
        # Where no NULL lies beside the callable, the first argument does.
        return instruction.arg + (index in self.absent), names

    def _function_parts(self, index, flags) -> tuple[str, ...]:
        if flags is not None:
            return tuple(PARTS[flag] for flag in PARTS if flags & flag)
        later = takewhile(lambda i: i.opname == "SET_FUNCTION_ATTRIBUTE", self.real[index + 1 :])
        return tuple(reversed([PARTS[i.arg] for i in later]))


ARGUMENTS = {
    "BINARY_OP": lambda i: (i.argrepr,),
    "CALL_FUNCTION_EX": lambda i: (bool(i.arg & 1),),
    "CALL_INTRINSIC_1": lambda i: (i.argrepr, i.arg),
    "CALL_INTRINSIC_2": lambda i: (i.argrepr, i.arg),
    "FORMAT_VALUE": lambda i: (i.arg & 3, bool(i.arg & 4)),
    "FORMAT_SIMPLE": lambda i: (0, False),
    "FORMAT_WITH_SPEC": lambda i: (0, True),
    "LOAD_SUPER_ATTR": lambda i: (i.argval, bool(i.arg & 2)),
    "YIELD_VALUE": lambda i: (),
}


class _Target(int):
    """Where a jump goes, until positions are known: an offset."""


def _filled(at, position, end):
    filled = {}
    for offset in range(end, -2, -2):
        position = filled[offset] = at.get(offset, position)
    return filled


def find_nulls(real, rows, code) -> tuple[set[int], list[int]]:
    """Return the positions of calls without a NULL, and how many lie below each row of the table.

    Counted along every path are the NULLs that still wait for their call.
    """
    at = _filled({i.offset: n for n, i in enumerate(real)}, len(real), len(code.co_code))
    absent, below, known, waiting = set(), {}, {}, 0
    for position, instruction in enumerate(real):
        waiting = known.get(position, waiting)
        for number, row in enumerate(rows):
            if number not in below and row.start <= instruction.offset < row.end:
                below[number] = known.setdefault(at[row.target], waiting)
        if instruction.opcode in JUMPS:
            known.setdefault(at[instruction.argval], waiting)
        if instruction.opname in ("CALL", "CALL_KW", "CALL_FUNCTION_EX"):
            two = real[max(position - 2, 0) : position]
            before = [i.opname for i in two if i.opname != "PRECALL"]
            if waiting and before[-1] != "GET_ITER":
                waiting -= 1
            else:
                absent.add(position)
        waiting += pushes_pair(instruction)
    return absent, [below.get(number, 0) for number in range(len(rows))]
