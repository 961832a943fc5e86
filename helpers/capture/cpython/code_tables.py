"""Read from a code object what a recorder of its run needs: names, instructions, stack depths."""

import dis
import sys
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from types import CodeType
from typing import NamedTuple

from ...internals import interpreter_frame
from ...mini.versions import JUMPS
from . import bytecode, disassembly
from .recorded_moments import RecordedMoment


class ListedInstruction(NamedTuple):
    """One instruction of a code object's listing, which is shown beside a recorded run."""

    #: The offset in bytes; for the small machine of mini/vm, the position in its list of steps.
    offset: int
    opname: str
    #: The argument as text.
    argument: str
    #: The offset of the instruction to which it may jump, -1 for none.
    target: int
    #: The offset in the code object, with which the source position is looked up.
    code_offset: int


class CodeTables:
    """What a code object says about its variables, instructions and stack before it runs.

    A frame has an array of *slots*: first one for each variable, then the value stack.
    """

    def __init__(self, code: CodeType):
        """Look up everything. The code is not run.

        A frame of the code has a slot for each variable, then a slot for each value on its stack.
        """
        self.code = code
        #: The names of the frame's variables, in the order of their slots.
        self.names = interpreter_frame.list_slot_names(code)
        names_with_cell = {*code.co_cellvars, *code.co_freevars}
        #: The same names, as `x (cell)` for a variable whose slot contains a cell.
        self.labels = tuple(
            f"{name} (cell)" if name in names_with_cell else name for name in self.names
        )
        #: The rows of the exception table.
        self.handlers = disassembly.list_handlers(code)
        instructions = disassembly.decode_instructions(code)
        #: Offset -> the instruction there.
        self.instructions = {entry.offset: entry for entry in instructions}
        #: The instructions as they are shown to the user.
        self.listing = [_list_instruction(entry, code) for entry in instructions]
        #: Offset of a loop's first instruction -> offsets of the instructions that jump back to it.
        self.back_jumps = _find_back_jumps(self.listing)
        #: Offset of an EXTENDED_ARG that a tracer gets -> offset of the instruction after it.
        self.reported_prefixes = _find_reported_prefixes(instructions)
        #: How many frames of this code object are traced now.
        self.traced_frames = 0
        #: Why the stack cannot be read, as a phrase; "" if it can.
        self.why_stack_is_unknown = interpreter_frame.find_unsupported()
        #: Offset of an instruction -> how many slots are in use before it.
        self.slots_in_use: dict[int, int] = {}
        if not self.why_stack_is_unknown:
            self._derive_slots()

    def _derive_slots(self) -> None:
        """Fill `slots_in_use`. If no depth can be derived, set `why_stack_is_unknown` instead."""
        try:
            depths = disassembly.derive_depths(self.code)
        except disassembly.UnknownStackDepth as error:
            self.why_stack_is_unknown = str(error)
            return
        for offset, depth in depths.items():
            self.slots_in_use[offset] = len(self.names) + depth

    def count_taken(
        self, moment: RecordedMoment, depth: int, next_moment: RecordedMoment | None
    ) -> int:
        """Return how many values the instruction of `moment` takes from the stack.

        `depth` is how many are on the stack. `next_moment` is not used: only the method of the same
        name of `MachineTables` needs it.
        """
        return disassembly.count_taken(self.instructions[moment.offset], depth)


def _list_instruction(entry: dis.Instruction, code: CodeType) -> ListedInstruction:
    """Return an instruction of CPython as an entry of the listing."""
    target = entry.argval if entry.opcode in JUMPS else -1
    text = bytecode.format_argument(entry, code)
    return ListedInstruction(entry.offset, entry.opname, text, target, entry.offset)


def _find_back_jumps(listing: Sequence[ListedInstruction]) -> dict[int, set[int]]:
    """Return the offset of each loop's first instruction -> the offsets of the jumps back to it."""
    back_jumps = defaultdict(set)
    for entry in listing:
        jumps_back = 0 <= entry.target <= entry.offset
        if jumps_back:
            back_jumps[entry.target].add(entry.offset)
    return dict(back_jumps)


def _find_reported_prefixes(instructions: Sequence[dis.Instruction]) -> dict[int, int]:
    """Return the offset of each EXTENDED_ARG -> the offset of the instruction after it.

    EXTENDED_ARG is a prefix: it makes the argument of the next instruction larger. CPython 3.11
    calls a tracer for the prefix and not for the instruction. Later versions call the tracer for
    the instruction too, so no such table is needed, and the dict is empty.
    """
    if sys.version_info >= (3, 12):
        return {}
    return {
        prefix.offset: instruction.offset
        for prefix, instruction in pairwise(instructions)
        if prefix.opname == "EXTENDED_ARG"
    }
