"""Translate CPython's bytecode into plain instructions, which are the same on 3.11, 3.12 and 3.13.

`plain(code)` returns the plain instructions of a code object, and its exception table. Bytecode has
*offsets* in bytes. A plain instruction has a *position* in the list, and jumps lead to positions.
"""

import dis
from itertools import takewhile
from sys import intern
from types import CodeType
from typing import NamedTuple

from ...internals.interpreter_frame import list_slot_names
from ..versions import JUMPS, VERSION, pushes_pair
from .instructions import INTRINSICS, TAKEN_APART, Plain, outer_name, plain_names

FUNCTION_PARTS = {1: "defaults", 2: "kwdefaults", 4: "annotations", 8: "closure"}
# Opcodes whose handler gets a name or an operator, such as "x" or "<", and not a number.
BY_NAME = {*dis.hasname, *dis.haslocal, *dis.hasfree, *dis.hascompare}
CALLS = ("CALL", "CALL_KW", "CALL_FUNCTION_EX")


class GuardedRange(NamedTuple):
    """One row of the exception table. A tuple, since the loop unpacks it."""

    #: The position of the first plain instruction that the handler guards.
    first: int
    #: The position behind the last guarded instruction.
    end: int
    #: The position of the handler's first instruction.
    handler: int
    #: How many values stay on the stack when the handler begins.
    depth: int
    #: Whether the offset of the instruction that raised is pushed before the exception.
    with_offset: bool


# id of a code object -> (code object, result of `plain`). The key is an id, because a code object
# with a constant that cannot be hashed cannot be a key. The code object is stored, so that no other
# gets its id.
_decoded_by_id: dict[int, tuple] = {}


def plain(code: CodeType) -> tuple[list[Plain], list[GuardedRange]]:
    """Return the plain instructions and the exception table of a code object.

    A code object is decoded only once.
    """
    entry = _decoded_by_id.get(id(code))
    if entry is None:
        entry = (code, _Decoder(code).decode())
        _decoded_by_id[id(code)] = entry
    _, decoded = entry
    return decoded


class _Target(int):
    """The target of a jump as an offset. `decode` replaces it by a position."""


class _Decoder:
    """Decodes one code object.

    A *real* instruction is one of CPython's, as `dis` shows it. It is replaced by no, one or
    several plain instructions, its *parts*.
    """

    def __init__(self, code: CodeType):
        """Read the real instructions and the exception table, and look for what concerns them all.

        That is where the function's own code starts, which variables are in cells, and which calls
        have no NULL beside the callable.
        """
        self.code = code
        instructions = dis.get_instructions(code)
        self.real = [i for i in instructions if i.opname not in ("CACHE", "EXTENDED_ARG")]
        self.rows = list(dis._parse_exception_table(code))

        # The plain instructions so far, whose jumps still have offsets as targets:
        # (name, arguments, offset, whether it is the first part).
        self.drafts: list[tuple] = []
        # The offset of a real instruction -> the position of its first plain one.
        self.positions: dict[int, int] = {}

        resumes = [i.offset for i in self.real if i.opname == "RESUME"]
        # The offset of the function's own code. Instructions before it make cells, which the method
        # `Loop.frame` of the machine has done already.
        self.start = resumes[0] if resumes else len(code.co_code)
        # The variables whose slots an inlined comprehension uses for variables of its own.
        self.borrowed = {i.argval for i in self.real if i.opname == "LOAD_FAST_AND_CLEAR"}
        # The slots of the free variables are the last. This is the number of the first of them.
        self.first_free = len(list_slot_names(code)) - len(code.co_freevars)
        self.calls_without_null, self.nulls_below = find_nulls(self.real, self.rows, code)
        # The names of the keyword arguments of the next call. KW_NAMES sets them.
        self.keywords = ()

    def decode(self) -> tuple[list[Plain], list[GuardedRange]]:
        """Return the plain instructions and the exception table, both with positions."""
        self._draft_all()
        size = len(self.code.co_code)
        # Every offset -> the position of the plain instruction there.
        positions = _fill_gaps(self.positions, len(self.drafts), size)

        steps = []
        for name, arguments, offset, is_first in self.drafts:
            if arguments and type(arguments[0]) is _Target:
                target = arguments[0]
                arguments = (positions[target],)
            steps.append(Plain(intern(name), arguments, offset, is_first))

        table = []
        for row, null_count in zip(self.rows, self.nulls_below, strict=True):
            first = positions[row.start]
            end = positions[row.end]
            handler = positions[row.target]
            depth = row.depth - null_count  # the machine's stack has no NULLs
            table.append(GuardedRange(first, end, handler, depth, row.lasti))
        return steps, table

    def _draft_all(self) -> None:
        """Fill `drafts` and `positions`, one real instruction after another."""
        # In CPython, TO_BOOL calls `__bool__`. It has no plain instruction: in the machine, the
        # next instruction calls `__bool__`. That one gets the offset of the TO_BOOL, so that an
        # error of `__bool__` is reported there.
        offset_of_to_bool = None
        for index, instruction in enumerate(self.real):
            self.positions[instruction.offset] = len(self.drafts)
            if instruction.opname == "TO_BOOL":
                offset_of_to_bool = instruction.offset

            parts = self._list_parts(index, instruction)
            if not parts:
                continue
            offset = instruction.offset if offset_of_to_bool is None else offset_of_to_bool
            offset_of_to_bool = None
            for number, (name, arguments) in enumerate(parts):
                self.drafts.append((name, arguments, offset, number == 0))

    def _list_parts(self, index, instruction) -> list[tuple[str, tuple]]:
        """Return (name, arguments) of each plain instruction that replaces a real one.

        `index` is the position of the real instruction in `self.real`. The list is empty for an
        instruction that is left out.
        """
        name = instruction.opname
        if name == "POP_TOP" and VERSION >= (3, 13):
            # At the end of a `for`, 3.13 pops the iterator here. The plain FOR_ITER has done so.
            before = self.real[index - 1]
            if before.opname == "END_FOR":
                return []
        if name == "KW_NAMES":  # it is left out, and the next CALL gets the names
            self.keywords = self.code.co_consts[instruction.arg]
        if name == "MAKE_CELL" and instruction.offset > self.start:
            # An inlined comprehension makes a cell in the midst of the function.
            return [(name, (self._name_variable(instruction),))]
        if name in TAKEN_APART:
            return self._split_fused(instruction)
        if name.startswith("CALL_INTRINSIC"):
            # Some intrinsics were opcodes of their own until 3.11, and are again here.
            intrinsic = instruction.argrepr.removeprefix("INTRINSIC_")
            if intrinsic in INTRINSICS:
                return [(intrinsic, ())]

        plain_opnames = plain_names(name)
        if instruction.opcode in dis.haslocal:
            arguments = (self._name_variable(instruction),)
            variable = instruction.argval
            slot = instruction.arg
            return [(self._choose_local(n, variable, slot), arguments) for n in plain_opnames]
        parts = [(n, self._list_arguments(index, instruction)) for n in plain_opnames]
        if self._leaves_bool(index, instruction):
            parts += [("UNARY_NOT", ()), ("UNARY_NOT", ())]  # `not not value` is True or False
        return parts

    def _split_fused(self, instruction) -> list[tuple[str, tuple]]:
        """Return (name, arguments) of each part of an instruction of TAKEN_APART."""
        name = instruction.opname
        names = TAKEN_APART[name]
        if name == "RETURN_CONST":
            load, return_value = names
            return [(load, (self.code.co_consts[instruction.arg],)), (return_value, ())]
        if name.endswith("_SLICE"):
            build_slice, use_slice = names
            return [(build_slice, (2,)), (use_slice, ())]  # a slice of two ends, without a step
        if name.startswith("JUMP_IF"):
            copy, jump, pop = names
            target = _Target(instruction.argval)
            return [(copy, (1,)), (jump, (target,)), (pop, ())]
        # Two loads or stores, each with a variable of its own.
        pairs = zip(names, instruction.argval, strict=True)
        return [(self._choose_local(name, variable, 0), (variable,)) for name, variable in pairs]

    def _leaves_bool(self, index, instruction) -> bool:
        """Return whether an instruction converts a value to True or False that stays on the stack.

        If the next instruction is a jump or a `not`, it converts the value itself.
        """
        converts = instruction.opname == "TO_BOOL"
        if VERSION >= (3, 13) and instruction.opname == "COMPARE_OP":
            converts = bool(instruction.arg & 16)  # this bit says that a TO_BOOL is included
        if not converts:
            return False
        for later in self.real[index + 1 :]:
            if later.opname != "NOP":
                return not later.opname.startswith(("POP_JUMP_IF", "UNARY_NOT"))
        return True

    def _name_variable(self, instruction) -> str:
        """Return the key in the machine's frame of the variable that an instruction uses."""
        if instruction.arg >= self.first_free:
            return outer_name(self.code, instruction.argval)
        return instruction.argval

    def _choose_local(self, name, variable, slot) -> str:
        """Return the name of the plain instruction for a load or store of a variable's slot.

        In CPython, the slot of a variable has its value or a cell. In the machine, values and cells
        are in two dicts, so a load of a cell is another instruction.

        Parameters
        ----------
        name
            The plain instruction as the opcode says it, such as LOAD_FAST.
        variable, slot
            The variable's name, and the number of its slot.
        """
        # An inlined comprehension (since 3.12) uses a slot for its own variable, and then restores
        # what the slot had: a value, a cell, or nothing.
        if name == "STORE_FAST" and variable in self.borrowed:
            return "STORE_SLOT"
        if name != "LOAD_FAST":
            return name
        if variable in self.code.co_freevars:
            # The slot of a free variable has a cell. A slot before those belongs to a variable of a
            # comprehension that has the same name.
            return "LOAD_CLOSURE" if slot >= len(self.code.co_varnames) else name
        if variable not in self.code.co_cellvars:
            return name
        if variable not in self.borrowed:
            return "LOAD_CLOSURE"
        # In a comprehension of 3.13, the slot may have a cell or a value.
        return "LOAD_SLOT" if VERSION >= (3, 13) else name

    def _list_arguments(self, index, instruction) -> tuple:
        """Return the arguments with which the handler of a plain instruction is called.

        `index` is the position of the real instruction in `self.real`.
        """
        number = instruction.arg
        if instruction.opcode in JUMPS:
            return (_Target(instruction.argval),)

        # Opcodes whose number has a meaning of its own, such as one bit for each option.
        match instruction.opname:
            case "LOAD_CONST":
                return (self.code.co_consts[number],)
            case "CALL" | "CALL_KW":
                return self._list_call_arguments(index, instruction)
            case "CALL_FUNCTION_EX":
                with_keywords = bool(number & 1)
                return (with_keywords,)
            case "MAKE_FUNCTION":
                return self._list_function_parts(index, number)
            case "BINARY_OP":
                return (instruction.argrepr,)
            case "CALL_INTRINSIC_1" | "CALL_INTRINSIC_2":
                return instruction.argrepr, number
            case "FORMAT_VALUE":
                conversion = number & 3
                with_spec = bool(number & 4)
                return conversion, with_spec
            case "FORMAT_SIMPLE":
                return 0, False
            case "FORMAT_WITH_SPEC":
                return 0, True
            case "LOAD_SUPER_ATTR":
                with_arguments = bool(number & 2)
                return instruction.argval, with_arguments
            case "YIELD_VALUE":
                return ()

        if number is None:
            return ()
        if instruction.opcode in dis.hasfree:
            return (self._name_variable(instruction),)
        if instruction.opcode in BY_NAME:
            return (instruction.argval,)
        return (number,)

    def _list_call_arguments(self, index, instruction) -> tuple[int, tuple]:
        """Return (number of arguments on the stack, names of the last ones) of a call.

        The names are those of the keyword arguments, () if there are none.
        """
        if instruction.opname == "CALL_KW":
            # In 3.13, the instruction before the call loads a tuple of these names as a constant.
            # The plain CALL has the names as an argument, so the load is dropped.
            _, (self.keywords,), *_ = self.drafts.pop()
            self.positions[instruction.offset] = len(self.drafts)
        names = self.keywords
        self.keywords = ()  # they are for this call alone

        count = instruction.arg
        if index in self.calls_without_null:
            # CPython then has the first argument, such as `self`, in the place of the NULL beside
            # the callable, and does not count it.
            count += 1
        return count, names

    def _list_function_parts(self, index, flags) -> tuple[str, ...]:
        """Return which attributes of a new function are on the stack, the lowest first.

        They are values of FUNCTION_PARTS. `index` is the position of the MAKE_FUNCTION in
        `self.real`, and `flags` its argument.
        """
        if flags is not None:  # before 3.13, each bit stands for an attribute
            return tuple(FUNCTION_PARTS[flag] for flag in FUNCTION_PARTS if flags & flag)
        # Since 3.13, an instruction for each attribute follows. The first takes the topmost one.
        later = self.real[index + 1 :]
        setters = takewhile(lambda i: i.opname == "SET_FUNCTION_ATTRIBUTE", later)
        parts = [FUNCTION_PARTS[setter.arg] for setter in setters]
        return tuple(reversed(parts))


def _fill_gaps(positions, last: int, size: int) -> dict[int, int]:
    """Return offset -> position for every offset of the bytecode.

    Parameters
    ----------
    positions
        Offset -> position, for the offsets at which an instruction begins. Other offsets get the
        position of the next instruction.
    last
        The position for offsets after the last instruction.
    size
        The length of the bytecode, in bytes.
    """
    filled = {}
    position = last
    for offset in range(size, -2, -2):  # from the end, so that the next instruction is known
        position = positions.get(offset, position)
        filled[offset] = position
    return filled


def find_nulls(real, rows, code: CodeType) -> tuple[set[int], list[int]]:
    """Find out which calls have no NULL beside the callable, and where NULLs stay on the stack.

    CPython pushes a second value beside a callable: NULL, or the `self` of a method. The call takes
    both off. The stack of the machine has only the callable. So the machine must know which calls
    have no second value, and how many of the values that stay on the stack when an exception is
    handled are second values. Both follow from a count of the second values, here called NULLs,
    that are on the stack before each instruction.

    Parameters
    ----------
    real
        The real instructions of a code object.
    rows
        The rows of its exception table, as `dis` parses them.
    code
        The code object.

    Returns
    -------
    calls_without_null
        The positions in `real` of the calls without a NULL.
    null_counts
        For each row, how many of the values that stay on the stack are NULLs.
    """
    starts = {instruction.offset: position for position, instruction in enumerate(real)}
    positions = _fill_gaps(starts, len(real), len(code.co_code))
    calls_without_null = set()
    null_count_by_row = {}  # number of a row -> NULLs on the stack where its range begins
    # Position of a jump's target or a handler -> NULLs on the stack there.
    null_count_by_position = {}
    null_count = 0  # on the stack before the instruction

    for position, instruction in enumerate(real):
        # Where a jump leads here, its count is right. The instruction above may be a `return`.
        null_count = null_count_by_position.get(position, null_count)
        for number, row in enumerate(rows):
            is_guarded = row.start <= instruction.offset < row.end
            if is_guarded and number not in null_count_by_row:
                handler = positions[row.target]
                null_count_by_row[number] = null_count_by_position.setdefault(handler, null_count)
        if instruction.opcode in JUMPS:
            null_count_by_position.setdefault(positions[instruction.argval], null_count)

        if instruction.opname in CALLS:
            # A generator expression is called right after GET_ITER, without a NULL of its own. A
            # NULL on the stack then belongs to an outer call.
            if null_count and _name_before(real, position) != "GET_ITER":
                null_count -= 1
            else:
                calls_without_null.add(position)
        if pushes_pair(instruction):
            null_count += 1

    null_counts = [null_count_by_row.get(number, 0) for number in range(len(rows))]
    return calls_without_null, null_counts


def _name_before(real, position: int) -> str:
    """Return the name of the instruction before the call at a position in `real`."""
    before = real[position - 1]
    if before.opname == "PRECALL":  # in 3.11, each call is a PRECALL and a CALL
        before = real[position - 2]
    return before.opname
