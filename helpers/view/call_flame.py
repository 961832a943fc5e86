"""A tree of calls -> the blocks of a flame graph: the path to each landmark, and what is beside it.
A flame graph (Brendan Gregg, 2011) has a block for each call, below the block of its caller. A
*landmark* is a call of a function that the capture looks for; its attribute `door` is true. The
*path* to a landmark is the calls that contain it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ..model.call_records import Call, CallTree
from ..model.phrase import clip_text, format_count, format_names
from . import ink
from .call_outline import LONGEST
from .plain_text import escape_to_one_line

MOST_ROWS = 40
MOST_BLOCKS = 400
MOST_LANDMARKS = 8  # landmarks to which the path is drawn
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

# The CSS of a block of each kind.
CSS_BY_KIND = {
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
    """What stands in it, such as `▶ matmul` or `+5`."""
    says: str
    """Its name, calls and module, shown while the mouse is over the block."""
    kind: str
    """One of the kinds of blocks, such as `LANDMARK`."""
    count: int
    """How many calls it represents, those inside them included."""
    inside: list["FlameBlock"]
    """The blocks of what it calls."""


def draw_flame(model: CallTree) -> list[FlameBlock]:
    """Return the blocks of the outermost calls."""
    return _Flame(model).list_blocks()


def walk_blocks(blocks: list[FlameBlock]) -> Iterator[FlameBlock]:
    """Yield the blocks that are visible at first.

    A block of the kind `SIDE` stands for other calls. Their blocks appear when a reader zooms.
    """
    for block in blocks:
        yield block
        if block.kind != SIDE:
            yield from walk_blocks(block.inside)


class _Flame:
    """Which calls of a tree have a block, and of which kind.

    A call is known by its index in `CallTree.calls`, where the calls inside it follow it.
    """

    def __init__(self, model: CallTree):
        """Choose the calls that have a block: those on the path to a landmark, and the largest."""
        self._calls = model.calls
        self._call_counts = model.inside()  # for each call: 1 and the number of calls inside it
        self._on_path = self._find_path()  # indices of landmarks and of the calls around them
        self._drawn = self._on_path | self._find_largest()  # indices of the calls with a block

    def _find_path(self) -> set[int]:
        """Return the indices of the first landmarks, and of the calls that contain one of them."""
        landmarks = [index for index, call in enumerate(self._calls) if call.door]
        on_path = set()
        for index, count in enumerate(self._call_counts):
            inside = range(
                index, index + count
            )  # in `calls`, a call is followed by those inside it
            if any(landmark in inside for landmark in landmarks[:MOST_LANDMARKS]):
                on_path.add(index)
        return on_path

    def _find_largest(self) -> set[int]:
        """Return the indices of the calls that contain most other calls, up to `MOST_BLOCKS`."""
        visible = [index for index, call in enumerate(self._calls) if call.depth < MOST_ROWS]
        largest_first = sorted(visible, key=lambda index: -self._call_counts[index])
        return set(largest_first[:MOST_BLOCKS])

    def list_blocks(self) -> list[FlameBlock]:
        """Return the blocks of the outermost calls."""
        return self._list_siblings(0, len(self._calls), folds_off_path=bool(self._on_path))

    def _list_siblings(self, start: int, stop: int, folds_off_path: bool) -> list[FlameBlock]:
        """Return the blocks of the outermost calls from index `start` to index `stop`.

        With `folds_off_path`, neighbours that contain no landmark share one block. That is so where
        some call beside them leads to a landmark.
        """
        blocks = []
        off_path = []  # the blocks of the last neighbours, which wait to share one block
        index = start
        while index < stop:
            is_on_path = index in self._on_path
            # `_drawn` has the calls on a path and the largest others, because room is limited.
            if self._calls[index].depth < MOST_ROWS and index in self._drawn:
                block = self._make_block(index)
                if is_on_path or not folds_off_path:
                    blocks.append(block)
                else:
                    off_path.append(block)

            index += self._call_counts[index]  # past the calls inside this one
            ends_neighbours = index >= stop or index in self._on_path  # no more such neighbours
            if off_path and ends_neighbours:
                blocks.append(_fold_off_path(off_path))
                off_path = []
        return blocks

    def _make_block(self, index: int) -> FlameBlock:
        """Return the block of a call, with the blocks of the calls inside it.

        `index` is the position of the call in `CallTree.calls`. The calls inside it follow there.
        """
        call = self._calls[index]
        count = self._call_counts[index]
        text = f"▶ {call.name}" if call.door else call.path
        is_on_path = index in self._on_path
        return FlameBlock(
            text=clip_text(text, LONGEST),
            says=_describe_block(call, count),
            kind=self._find_kind(index),
            count=count,
            # Beside the next call on the path, the other calls share blocks. Where no path leads,
            # each call has a block of its own.
            inside=self._list_siblings(index + 1, index + count, folds_off_path=is_on_path),
        )

    def _find_kind(self, index: int) -> str:
        """Return the kind of the block of a call: the first of the four that fits."""
        call = self._calls[index]
        if call.door:
            return LANDMARK
        if index in self._on_path:
            return WAY
        return IN_C if call.c else OTHER


def _fold_off_path(blocks: list[FlameBlock]) -> FlameBlock:
    """Return one block for neighbours that contain no landmark; their blocks are inside it."""
    count = sum(block.count for block in blocks)
    names = format_names([block.text for block in blocks], MOST_NAMED)
    says = f"{format_count(count, 'call')} off the path: {names}"
    return FlameBlock(f"+{count:,}", says, SIDE, count, blocks)


def _describe_block(call: Call, count: int) -> str:
    """Return the tip of a call's block; `count` is how many calls the block represents."""
    parts = [clip_text(call.name, LONGEST), f"{format_count(count, 'call')}, this one included"]
    if call.module:
        parts.append(clip_text(call.module, LONGEST))
    if call.c:
        parts.append("written in C or C++")
    if call.raised:
        parts.append("raised an error")
    return escape_to_one_line(" · ".join(parts))
