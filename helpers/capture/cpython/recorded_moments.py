"""What a recorder of instructions notes: calls, instructions, and loop rounds that it left out."""

from types import FrameType
from typing import NamedTuple


class Activation:
    """One call while it is recorded; a generator keeps its activation from one resume to the next.

    Parameters
    ----------
    tables : CodeTables or MachineTables
        What is known of the code object that the call runs.
    number : int
        The number of the call in the run, from 1.
    """

    def __init__(self, tables, number: int):
        """Start before the first instruction of the call."""
        self.tables = tables
        self.number = number
        #: How many recorded calls wait below this one.
        self.level = 0
        #: The frame while it runs, None while it is suspended or has ended.
        self.frame: FrameType | None = None
        #: The offset of the instruction that ran last, -1 before the first.
        self.last_offset = -1
        #: The serial of the moment that was recorded last.
        self.last_serial = 0
        #: Header of a loop -> serials of the moments at which its latest rounds began.
        self.round_starts: dict[int, list[int]] = {}
        #: Whether an exception has been raised since the last instruction began.
        self.is_raising = False


class RecordedMoment(NamedTuple):
    """One instruction that is about to run. It contains no object of the program."""

    #: The number of the instruction in the run, from 1. The record is sorted by it.
    serial: int
    #: The call that runs the instruction.
    activation: Activation
    #: How many recorded calls wait below this one.
    level: int
    #: The offset of the instruction.
    offset: int
    #: What `look` returned for each slot: variables first, then the stack. None if not readable.
    slots: tuple | None
    #: How many characters the program had printed.
    printed_size: int
    #: The address of the object in each slot, for comparing neighbours. None if not readable.
    addresses: tuple | list | None


class FoldedMoments(NamedTuple):
    """Rounds of a loop that were left out of the record."""

    #: The serial of the first moment that was left out.
    serial: int
    #: The call that runs the loop.
    activation: Activation
    #: The offset of the loop's first instruction.
    header: int
    #: How many rounds were left out.
    rounds: int
    #: How many instructions ran in these rounds, calls included.
    steps: int


def find_next_moments(moments: list[RecordedMoment | FoldedMoments]) -> dict[int, RecordedMoment]:
    """Return the position of a moment -> the next moment of the same call.

    A moment has none if its call ends with it, or if rounds of a loop were left out behind it.
    """
    next_by_call: dict[int, RecordedMoment | None] = {}  # None: rounds were left out there
    next_moments = {}
    for position in range(len(moments) - 1, -1, -1):
        moment = moments[position]
        call = id(moment.activation)
        is_moment = type(moment) is RecordedMoment
        if is_moment and next_by_call.get(call) is not None:
            next_moments[position] = next_by_call[call]
        next_by_call[call] = moment if is_moment else None
    return next_moments
