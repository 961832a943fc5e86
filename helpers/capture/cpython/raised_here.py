"""The steps of a stack run -> the same, which know where the exception in flight was raised."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from helpers.model.stack import StackStep

DEED = "raised"


def raised_here(steps: Iterable[StackStep]) -> Iterator[StackStep]:
    """Yield each step; those between a raise and the end of its handler bear line and offset."""
    raised: dict[int, tuple[int, int]] = {}  # call -> of the instruction that raised
    for step in steps:
        offset, line = raised.get(step.call, (-1, 0))
        known = offset >= 0 and not step.left_out
        yield replace(step, raised=offset, left=line, deed=DEED * bool(line)) if known else step
        if step.ending.startswith("raises"):
            again = step.opname == "RERAISE" and known
            raised[step.call] = (offset, line) if again else (step.offset, step.line)
        elif step.opname == "POP_EXCEPT":
            raised.pop(step.call, None)
