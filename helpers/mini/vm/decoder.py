"""A code object -> its plain instructions, and its exception table with positions among them."""

import dis
from itertools import takewhile
from sys import intern
from types import CodeType
from typing import NamedTuple

from ...internals.interpreter_frame import list_slot_names
from ..versions import JUMPS, VERSION, pushes_pair
from .instructions import INTRINSICS, TAKEN_APART, Plain, outer_name, plain_names

FUNCTION_PARTS = {1: "defaults", 2: "kwdefaults", 4: "annotations", 8: "closure"}
# Opcodes whose argument is what `dis` says it stands for, not its number.
BY_NAME = {*dis.hasname, *dis.haslocal, *dis.hasfree, *dis.hascompare}
CALLS = ("CALL", "CALL_KW", "CALL_FUNCTION_EX")


class GuardedRange(NamedTuple):
    """One row of the exception table. A tuple, since the loop unpacks it."""

    #: The position of the first plain instruction that the handler guards.
    first: int
    #: The position behind the last one.
    end: int
    #: Where the handler begins.
    handler: int
    #: How many values stay on the stack.
    depth: int
    #: Whether the place of the error is pushed below it.
    with_offset: bool


# With each code object, so that no other gets its id. They are found by id, since code with a
# constant that cannot be hashed cannot be a key.
_decoded_by_id: dict[int, tuple] = {}


def plain(code: CodeType) -> tuple[list[Plain], list[GuardedRange]]:
    """Return the plain instructions and the exception table of a code object, made once."""
    entry = _decoded_by_id.get(id(code))
    if entry is None:
        entry = (code, _Decoder(code).decode())
        _decoded_by_id[id(code)] = entry
    return entry[1]


class _Target(int):
    """Where a jump goes, until positions are known: an offset."""


class _Decoder:
    """Decodes one code object.

    A real instruction is one of CPython's, as `dis` shows it. Plain ones replace it: none, one or
    several, its parts.
    """

    def __init__(self, code: CodeType):
        """Read the real instructions and the exception table, and what is asked of all of them."""
        self.code = code
        instructions = dis.get_instructions(code)
        self.real = [i for i in instructions if i.opname not in ("CACHE", "EXTENDED_ARG")]
        self.rows = list(dis._parse_exception_table(code))

        # The plain instructions so far: name, arguments, offset, whether it is the first part.
        self.drafts: list[tuple] = []
        # The offset of a real instruction -> the position of its first plain one.
        self.positions: dict[int, int] = {}

        resumes = [i.offset for i in self.real if i.opname == "RESUME"]
        # Where the function's own code starts. Before that it makes cells, as `Loop.frame` does.
        self.start = resumes[0] if resumes else len(code.co_code)
        # The variables whose slots an inlined comprehension borrows.
        self.borrowed = {i.argval for i in self.real if i.opname == "LOAD_FAST_AND_CLEAR"}
        # The number of the first slot of a free variable; those are the last.
        self.first_free = len(list_slot_names(code)) - len(code.co_freevars)
        self.calls_without_null, self.nulls_below = find_nulls(self.real, self.rows, code)
        self.keywords = ()  # what KW_NAMES says of the next call

    def decode(self) -> tuple[list[Plain], list[GuardedRange]]:
        """Return the plain instructions and the exception table."""
        self._draft_all()
        size = len(self.code.co_code)
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
        # The offset of a TO_BOOL, which has no part itself. The instruction after it asks for the
        # truth here, so an error of `__bool__` is at the offset of the TO_BOOL.
        waiting = None
        for index, instruction in enumerate(self.real):
            self.positions[instruction.offset] = len(self.drafts)
            if instruction.opname == "TO_BOOL":
                waiting = instruction.offset

            parts = self._parts(index, instruction)
            if not parts:
                continue
            offset = instruction.offset if waiting is None else waiting
            waiting = None
            for number, (name, arguments) in enumerate(parts):
                self.drafts.append((name, arguments, offset, number == 0))

    def _parts(self, index, instruction) -> list[tuple[str, tuple]]:
        """Return the name and the arguments of each plain instruction of a real one."""
        name = instruction.opname
        if name == "POP_TOP" and VERSION >= (3, 13):
            before = self.real[index - 1]
            if before.opname == "END_FOR":  # FOR_ITER has taken the iterator off already
                return []
        if name == "KW_NAMES":
            self.keywords = self.code.co_consts[instruction.arg]
        if name == "MAKE_CELL" and instruction.offset > self.start:
            return [(name, (self._variable(instruction),))]
        if name in TAKEN_APART:
            return self._parts_of_fused(instruction)
        if name.startswith("CALL_INTRINSIC"):
            intrinsic = instruction.argrepr.removeprefix("INTRINSIC_")
            if intrinsic in INTRINSICS:
                return [(intrinsic, ())]

        names = plain_names(name)
        if instruction.opcode in dis.haslocal:
            arguments = (self._variable(instruction),)
            variable = instruction.argval
            return [(self._local(n, variable, instruction.arg), arguments) for n in names]
        parts = [(n, self._arguments(index, instruction)) for n in names]
        if self._leaves_bool(index, instruction):  # `not not value` is True or False
            parts += [("UNARY_NOT", ()), ("UNARY_NOT", ())]
        return parts

    def _parts_of_fused(self, instruction) -> list[tuple[str, tuple]]:
        """Return the name and the arguments of each part of an instruction of TAKEN_APART."""
        name = instruction.opname
        names = TAKEN_APART[name]
        if name == "RETURN_CONST":
            return [(names[0], (self.code.co_consts[instruction.arg],)), (names[1], ())]
        if name.endswith("_SLICE"):
            return [(names[0], (2,)), (names[1], ())]  # a slice of two ends
        if name.startswith("JUMP_IF"):
            target = _Target(instruction.argval)
            return [(names[0], (1,)), (names[1], (target,)), (names[2], ())]
        # Two loads or stores, each with a variable of its own.
        pairs = zip(names, instruction.argval, strict=True)
        return [(self._local(name, variable, 0), (variable,)) for name, variable in pairs]

    def _leaves_bool(self, index, instruction) -> bool:
        """Return whether True or False is left on the stack, which no jump takes off."""
        asks = instruction.opname == "TO_BOOL"
        if VERSION >= (3, 13) and instruction.opname == "COMPARE_OP":  # a bit stands for TO_BOOL
            asks = bool(instruction.arg & 16)
        if not asks:
            return False
        for later in self.real[index + 1 :]:
            if later.opname != "NOP":
                return not later.opname.startswith(("POP_JUMP_IF", "UNARY_NOT"))
        return True

    def _variable(self, instruction) -> str:
        """Return the name of the variable in the slot that an instruction names by its number."""
        if instruction.arg >= self.first_free:
            return outer_name(self.code, instruction.argval)
        return instruction.argval

    def _local(self, name, variable, slot) -> str:
        """Return the plain instruction for a load or store of a variable, which may be a cell.

        `name` is the instruction so far, `variable` the variable's name, and `slot` its number.
        """
        if name == "STORE_FAST" and variable in self.borrowed:
            return "STORE_SLOT"
        if name != "LOAD_FAST":
            return name
        if variable in self.code.co_freevars:  # a local of a comprehension may have its name, too
            return "LOAD_CLOSURE" if slot >= len(self.code.co_varnames) else name
        if variable not in self.code.co_cellvars:
            return name
        if variable not in self.borrowed:
            return "LOAD_CLOSURE"
        return "LOAD_SLOT" if VERSION >= (3, 13) else name

    def _arguments(self, index, instruction) -> tuple:
        """Return what the handler of a plain instruction is called with."""
        number = instruction.arg
        if instruction.opcode in JUMPS:
            return (_Target(instruction.argval),)

        # The numbers of these opcodes have several meanings, bit by bit.
        match instruction.opname:
            case "LOAD_CONST":
                return (self.code.co_consts[number],)
            case "CALL" | "CALL_KW":
                return self._call_arguments(index, instruction)
            case "CALL_FUNCTION_EX":
                with_keywords = bool(number & 1)
                return (with_keywords,)
            case "MAKE_FUNCTION":
                return self._function_parts(index, number)
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
            return (self._variable(instruction),)
        if instruction.opcode in BY_NAME:
            return (instruction.argval,)
        return (number,)

    def _call_arguments(self, index, instruction) -> tuple[int, tuple]:
        """Return how many arguments a call takes off the stack, and the names of its keywords."""
        if instruction.opname == "CALL_KW":
            # The names of the keywords are a constant that the instruction before loads. Its draft
            # is taken back, because the names are an argument of the plain CALL.
            _, (self.keywords,), *_ = self.drafts.pop()
            self.positions[instruction.offset] = len(self.drafts)
        names = self.keywords
        self.keywords = ()  # they are for this call alone

        count = instruction.arg
        if index in self.calls_without_null:
            count += 1  # Where no NULL lies beside the callable, the first argument does.
        return count, names

    def _function_parts(self, index, flags) -> tuple[str, ...]:
        """Return which parts of a new function lie on the stack, from below: see FUNCTION_PARTS."""
        if flags is not None:  # before 3.13
            return tuple(FUNCTION_PARTS[flag] for flag in FUNCTION_PARTS if flags & flag)
        # Since 3.13 an instruction for each part follows; the first takes the topmost.
        later = self.real[index + 1 :]
        setters = takewhile(lambda i: i.opname == "SET_FUNCTION_ATTRIBUTE", later)
        parts = [FUNCTION_PARTS[setter.arg] for setter in setters]
        return tuple(reversed(parts))


def _fill_gaps(positions, last: int, size: int) -> dict[int, int]:
    """Return a position for every offset: where no instruction begins, that of the next one."""
    filled = {}
    position = last
    for offset in range(size, -2, -2):
        position = positions.get(offset, position)
        filled[offset] = position
    return filled


def find_nulls(real, rows, code: CodeType) -> tuple[set[int], list[int]]:
    """Return the positions of calls without a NULL, and for each row how many NULLs lie below.

    `real` are the real instructions of a code object, and `rows` the rows of its exception table. A
    row keeps a part of the stack; the second result counts the NULLs in that part. For both, the
    NULLs that still wait for their call are counted along every path.
    """
    starts = {instruction.offset: position for position, instruction in enumerate(real)}
    positions = _fill_gaps(starts, len(real), len(code.co_code))
    calls_without_null = set()
    below_by_row = {}
    waiting_by_position = {}  # of the targets of jumps and handlers
    waiting = 0  # how many NULLs wait before the instruction

    for position, instruction in enumerate(real):
        waiting = waiting_by_position.get(position, waiting)
        for number, row in enumerate(rows):
            is_guarded = row.start <= instruction.offset < row.end
            if is_guarded and number not in below_by_row:
                handler = positions[row.target]
                below_by_row[number] = waiting_by_position.setdefault(handler, waiting)
        if instruction.opcode in JUMPS:
            waiting_by_position.setdefault(positions[instruction.argval], waiting)

        if instruction.opname in CALLS:
            # A generator expression is called with an iterator, and with no NULL.
            if waiting and _name_before(real, position) != "GET_ITER":
                waiting -= 1
            else:
                calls_without_null.add(position)
        if pushes_pair(instruction):
            waiting += 1

    below = [below_by_row.get(number, 0) for number in range(len(rows))]
    return calls_without_null, below


def _name_before(real, position: int) -> str:
    """Return the opcode of the instruction before a call; PRECALL belongs to the call."""
    before = real[position - 1]
    if before.opname == "PRECALL":
        before = real[position - 2]
    return before.opname
