"""A tree of calls -> the lines of an outline: `▶ torch.matmul`, `… is_tensor ×3, size`.
A *landmark* is a call of a function that the capture looks for; its attribute `door` is true. In a
large tree, calls that lead to no landmark are *folded*: several of them share a line. The counts of
the lines include every call.
"""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import groupby

from ..model.call_records import Call, CallTree
from ..model.phrase import clip_text, format_names

MOST_WHOLE = 50  # calls of a tree that is not folded
MOST_LINES = 400
LONGEST = 120  # characters of a name
MOST_NAMED = 4  # functions that a folded line names


@dataclass(frozen=True)
class OutlineLine:
    """One line of an outline: a call, equal calls one after the other, or folded calls."""

    depth: int
    """How many calls contain it."""
    text: str
    """What was called."""
    call_count: int
    """How many calls it represents, those inside them included."""
    is_landmark: bool = False
    """Whether the capture looks for this call."""


def outline_calls(tree: CallTree) -> tuple[OutlineLine, ...]:
    """Return the lines of a tree; equal neighbours share a line.

    Lines after the first `MOST_LINES` are left out, and a last line counts them.
    """
    lines = _merge_equal_neighbours(_list_outline_lines(tree))
    left_out_count = len(lines) - MOST_LINES
    if left_out_count > 0:
        text = f"… and {left_out_count:,} more lines; .model.calls lists every call"
        lines = [*lines[:MOST_LINES], OutlineLine(0, text, 0)]
    return tuple(lines)


def _list_outline_lines(tree: CallTree) -> list[OutlineLine]:
    """Return a line for each call of a small tree, or of a tree without a landmark.

    In any other tree, only landmarks and the calls that contain one have a line of their own.
    Neighbours without a landmark share a line.
    """
    calls = tree.calls
    call_counts = tree.inside()  # for each call: 1 and the number of calls inside it
    on_the_way = tree.on_the_way()  # indices of the landmarks, and of the calls that contain one
    has_line_per_call = len(calls) <= MOST_WHOLE or not on_the_way

    lines = []
    index = 0
    while index < len(calls):
        call = calls[index]
        if has_line_per_call or index in on_the_way:
            text = _describe_call(call)
            lines.append(OutlineLine(call.depth, text, call_counts[index], call.door))
            index += 1
            continue

        # This call leads to no landmark. It shares a line with all calls inside it, and with the
        # neighbours of the same depth that lead to none either.
        stop = index + call_counts[index]
        while stop < len(calls) and stop not in on_the_way and calls[stop].depth == call.depth:
            stop += call_counts[stop]
        text = _name_folded(calls[index:stop], call.depth)
        lines.append(OutlineLine(call.depth, text, stop - index))
        index = stop
    return lines


def _describe_call(call: Call) -> str:
    """Return the name of what was called, with C code and an error marked."""
    text = clip_text(call.path, LONGEST)
    if call.c:
        text = f"[C] {text}"
    if call.raised:
        text = f"{text} (raised)"
    return text


def _name_folded(calls: tuple[Call, ...], depth: int) -> str:
    """Return the names of the outermost calls of a folded line, with how often each was called."""
    counts = Counter(clip_text(call.path, LONGEST) for call in calls if call.depth == depth)
    names = [f"{name} ×{count}" if count > 1 else name for name, count in counts.items()]
    return f"… {format_names(names, MOST_NAMED)}"


def _merge_equal_neighbours(lines: list[OutlineLine]) -> list[OutlineLine]:
    """Return the lines, with `name ×3` for three equal neighbours that call nothing."""
    merged = []
    for line, equal_lines in groupby(lines):
        times = len(list(equal_lines))
        # A call with calls inside it is followed by their lines, so it never merges.
        calls_nothing = line.call_count == 1
        if times > 1 and calls_nothing:
            merged.append(replace(line, text=f"{line.text} ×{times}", call_count=times))
        else:
            merged += [line] * times
    return merged
