"""The entries of a record of instructions: calls, moments, and folded rounds of loops.
A *moment* is one instruction that is about to run. If a loop has many rounds, the moments of its
middle rounds are *folded*: one entry replaces them.
"""

from types import FrameType
from typing import NamedTuple


class Activation:
    """One call while it is recorded. A generator that is suspended and resumed has only one.

    Parameters
    ----------
    tables : CodeTables or MachineTables
        What is known of the code object that the call runs.
    number : int
        The number of the call in the run, from 1.
    """

    def __init__(self, tables, number: int):
        """Start before the first instruction of the call."""
        #: A `CodeTables` or a `MachineTables`: what is known of the code object that the call runs.
        self.tables = tables
        #: The number of the call in the run, from 1.
        self.number = number
        #: How many recorded calls wait below this one.
        self.level = 0
        #: The frame while it runs, None while it is suspended or has ended.
        self.frame: FrameType | None = None
        #: The offset of the instruction that ran last, -1 before the first.
        self.last_offset = -1
        #: The serial of the moment that was recorded last.
        self.last_serial = 0
        #: Offset of a loop's first instruction -> serials of the moments at which rounds began: of
        #: the first rounds and the latest, not of those that were folded.
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
    """An entry that replaces the moments of one or more rounds of a loop."""

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
    """Return position of a moment in the list -> the next moment of the same call.

    A moment is not in the dict if it is the last of its call, or if a fold comes before the next
    moment of the call.
    """
    next_moments = {}
    # The list is read from its end. Id of a call -> its entry that was read last, None for a fold.
    next_by_call: dict[int, RecordedMoment | None] = {}
    for position in range(len(moments) - 1, -1, -1):
        moment = moments[position]
        call_id = id(moment.activation)
        if type(moment) is FoldedMoments:
            next_by_call[call_id] = None
            continue
        next_moment = next_by_call.get(call_id)
        if next_moment is not None:
            next_moments[position] = next_moment
        next_by_call[call_id] = moment
    return next_moments
