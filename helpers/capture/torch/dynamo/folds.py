"""Events of a translation -> how many of them make one step: repeats, and prologues."""

from helpers.capture.torch.dynamo import text as words
from helpers.capture.torch.dynamo.events import Happened, Instruction


def places(events) -> list:
    """Return the (code, offset) of each instruction of the try that ends the events."""
    found = []
    for event in reversed(events):
        if not isinstance(event, Instruction):
            break
        found.append((event.code, event.offset))
    return found[::-1]


def repeated(events, tried) -> int:
    """Return how many instructions repeat the try before, without the one that it stops at."""
    count = 0
    for event, place in zip(events, tried, strict=False):
        if not isinstance(event, Instruction) or (event.code, event.offset) != place:
            break
        count += 1
    stops = count < len(events) and isinstance(events[count], Happened)
    return count - 1 if count and stops else count


def prologue(events) -> int:
    """Return how many instructions from here on are the prologue of a resume function."""
    if events[0].offset or not words.resumed(events[0].code.co_name)[1]:
        return 0
    own = []
    for event in events:
        if not isinstance(event, Instruction) or event.code is not events[0].code:
            break
        own.append(event)
    last = max((n for n, event in enumerate(own) if event.prologue), default=-1)
    jumps = last + 1 < len(own) and own[last + 1].opname.startswith("JUMP")
    return last + 1 + (last >= 0 and jumps)
