"""A tree of calls -> the blocks of a flame graph: the way to each landmark, and what is beside it.

A flame graph (Brendan Gregg, 2011) has a block for each call, below the block of its caller.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ..model.call_records import Call, CallTree
from ..model.phrase import clip_text, format_count, format_names
from . import ink
from .call_outline import LONGEST
from .plain_text import spell_in_one_line

MOST_ROWS = 40
MOST_BLOCKS = 400
MOST_LANDMARKS = 8  # landmarks that have a way of their own
MOST_NAMED = 4  # functions that the block of other calls names

# The kinds of blocks, in the words of the legend.
WAY = "on the path to a landmark"
LANDMARK = "a landmark (▶)"
IN_C = "written in C or C++"
OTHER = "another call"
SIDE = "+5: five other calls"

_EDGED = (
    "box-sizing:border-box;height:22px;line-height:19px;"
    "border:1.5px {};border-color:{};background-color:{}"
)

# How a block of each kind looks.
LOOKS = {
    WAY: f"background-color:{ink.format_colour('name')};color:{ink.PAGE}",
    LANDMARK: f"background-color:{ink.format_colour('update')};color:{ink.PAGE}",
    IN_C: _EDGED.format("solid", ink.format_colour("op"), ink.format_fill("op")),
    OTHER: f"background-color:color-mix(in srgb,{ink.TEXT} 14%,{ink.PAGE})",
    SIDE: _EDGED.format("dashed", ink.format_colour("quiet"), ink.format_fill("quiet")),
}


@dataclass(frozen=True)
class FlameBlock:
    """One block of a flame graph."""

    text: str
    """What stands in it."""
    says: str
    """Its name, calls and module, for a tip."""
    kind: str
    """One of the kinds of blocks."""
    count: int
    """How many calls it represents, with those inside."""
    inside: list["FlameBlock"]
    """The blocks of what it calls."""


def draw_flame(model: CallTree) -> list[FlameBlock]:
    """Return the blocks of the outermost calls."""
    return _Flame(model).list_blocks()


def walk_blocks(blocks: list[FlameBlock]) -> Iterator[FlameBlock]:
    """Yield the blocks that are seen before one zooms."""
    for block in blocks:
        yield block
        if block.kind != SIDE:
            yield from walk_blocks(block.inside)


class _Flame:
    """Which calls of a tree have a block, and of which kind."""

    def __init__(self, model: CallTree):
        self._calls = model.calls
        self._call_counts = model.inside()
        self._on_the_way = self._find_way()
        self._drawn = self._on_the_way | self._find_largest()

    def _find_way(self) -> set[int]:
        """Return the calls that lead to one of the first landmarks."""
        landmarks = [index for index, call in enumerate(self._calls) if call.door]
        way = set()
        for index, count in enumerate(self._call_counts):
            inside = range(index, index + count)
            if any(landmark in inside for landmark in landmarks[:MOST_LANDMARKS]):
                way.add(index)
        return way

    def _find_largest(self) -> set[int]:
        """Return the calls with most calls in them."""
        visible = [index for index, call in enumerate(self._calls) if call.depth < MOST_ROWS]
        largest_first = sorted(visible, key=lambda index: -self._call_counts[index])
        return set(largest_first[:MOST_BLOCKS])

    def list_blocks(self) -> list[FlameBlock]:
        """Return the blocks of the outermost calls."""
        return self._list_between(0, len(self._calls), folds_side=bool(self._on_the_way))

    def _list_between(self, start: int, stop: int, folds_side: bool) -> list[FlameBlock]:
        """Return the blocks of neighbours; `folds_side`: those off the way share a block."""
        blocks = []
        side = []  # neighbours off the way since the last block on it
        index = start
        while index < stop:
            is_on_the_way = index in self._on_the_way
            if self._calls[index].depth < MOST_ROWS and index in self._drawn:
                block = self._make_block(index)
                if is_on_the_way or not folds_side:
                    blocks.append(block)
                else:
                    side.append(block)

            index += self._call_counts[index]
            ends_side = index >= stop or index in self._on_the_way
            if side and ends_side:
                blocks.append(_fold_side(side))
                side = []
        return blocks

    def _make_block(self, index: int) -> FlameBlock:
        call = self._calls[index]
        count = self._call_counts[index]
        text = f"▶ {call.name}" if call.door else call.path
        folds_side = index in self._on_the_way
        inside = self._list_between(index + 1, index + count, folds_side)
        says = _describe_block(call, count)
        return FlameBlock(clip_text(text, LONGEST), says, self._find_kind(index), count, inside)

    def _find_kind(self, index: int) -> str:
        call = self._calls[index]
        if call.door:
            return LANDMARK
        if index in self._on_the_way:
            return WAY
        return IN_C if call.c else OTHER


def _fold_side(blocks: list[FlameBlock]) -> FlameBlock:
    """Return one block for calls beside the way to a landmark."""
    count = sum(block.count for block in blocks)
    names = format_names([block.text for block in blocks], MOST_NAMED)
    says = f"{format_count(count, 'call')} off the path: {names}"
    return FlameBlock(f"+{count:,}", says, SIDE, count, blocks)


def _describe_block(call: Call, count: int) -> str:
    parts = [clip_text(call.name, LONGEST), f"{format_count(count, 'call')}, this one included"]
    if call.module:
        parts.append(clip_text(call.module, LONGEST))
    if call.c:
        parts.append("written in C or C++")
    if call.raised:
        parts.append("raised an error")
    return spell_in_one_line(" · ".join(parts))
