"""A code object -> what a recorder needs to know of it before its first instruction runs."""

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
    """One instruction of a listing beside which a run is shown."""

    #: Where the instruction is: an offset, or a position in a machine's list of steps.
    offset: int
    opname: str
    #: The argument as text.
    argument: str
    #: The offset of the instruction to which it may jump, -1 for none.
    target: int
    #: The offset in the code object, which tells the source position.
    code_offset: int


class CodeTables:
    """What is known of one code object before it runs."""

    def __init__(self, code: CodeType):
        """Look up everything that `code` itself says; nothing of it is run."""
        self.code = code
        #: The names of the frame's variables, in the order of their slots.
        self.names = interpreter_frame.list_slot_names(code)
        shared = {*code.co_cellvars, *code.co_freevars}
        #: The same names; those whose slot contains a cell say so.
        self.labels = tuple(f"{name} (cell)" if name in shared else name for name in self.names)
        self.handlers = disassembly.list_handlers(code)
        instructions = disassembly.decode_instructions(code)
        self.instructions = {entry.offset: entry for entry in instructions}
        self.listing = [_list_instruction(entry, code) for entry in instructions]
        #: Offset of a loop's header -> offsets of the instructions that jump back to it.
        self.back_jumps = _find_back_jumps(self.listing)
        #: Offset of a prefix that CPython reports -> offset of the instruction it belongs to.
        self.reported_prefixes = _find_reported_prefixes(instructions)
        #: How many frames of this code object are traced now.
        self.traced_frames = 0
        #: Why the stack is not read; "" where it is.
        self.doubt = interpreter_frame.find_unsupported()
        #: Offset -> how many slots are in use before the instruction.
        self.slots_in_use: dict[int, int] = {}
        if not self.doubt:
            self._derive_slots()

    def _derive_slots(self) -> None:
        """Set `slots_in_use`, or `doubt` where the depth of the stack cannot be derived."""
        try:
            depths = disassembly.derive_depths(self.code)
        except disassembly.Doubt as doubt:
            self.doubt = str(doubt)
            return
        for offset, depth in depths.items():
            self.slots_in_use[offset] = len(self.names) + depth

    def taken(self, moment: RecordedMoment, depth: int, next_moment: RecordedMoment | None) -> int:
        """Return how many of the `depth` values on the stack the instruction works on.

        `MachineTables.taken` needs the next moment of the call; here the instruction says enough.
        """
        return disassembly.count_taken(self.instructions[moment.offset], depth)


def _list_instruction(entry: dis.Instruction, code: CodeType) -> ListedInstruction:
    """Return an instruction of CPython as a line of the listing."""
    target = entry.argval if entry.opcode in JUMPS else -1
    text = bytecode.format_argument(entry, code)
    return ListedInstruction(entry.offset, entry.opname, text, target, entry.offset)


def _find_back_jumps(listing: Sequence[ListedInstruction]) -> dict[int, set[int]]:
    """Return the offset of each loop's first instruction -> the offsets of the jumps back to it."""
    back_jumps = defaultdict(set)
    for entry in listing:
        if 0 <= entry.target <= entry.offset:
            back_jumps[entry.target].add(entry.offset)
    return dict(back_jumps)


def _find_reported_prefixes(instructions: Sequence[dis.Instruction]) -> dict[int, int]:
    """Return the offset of each EXTENDED_ARG -> the offset of the instruction after it.

    CPython 3.11 reports the prefix, and then not its instruction. Later versions report both.
    """
    if sys.version_info >= (3, 12):
        return {}
    return {
        prefix.offset: instruction.offset
        for prefix, instruction in pairwise(instructions)
        if prefix.opname == "EXTENDED_ARG"
    }
