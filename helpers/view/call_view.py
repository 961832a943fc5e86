"""A tree of calls -> counts and nested lines: text, or a flame above folding lists."""

from collections import Counter, namedtuple
from collections.abc import Iterator
from itertools import groupby

from ..model.framework_records import Call, CallTree
from ..model.phrase import clipped, counted, listed
from . import View, ink
from .images import read_script
from .markup import one_line, render

MOST_WHOLE = 50  # calls of a tree that is not folded
MOST_LINES, LONGEST = 400, 120
BAR = 16  # characters of the longest bar
MOST_ROWS, MOST_BLOCKS = 40, 400
MOST_NAMED = 8  # landmarks that have a way of their own in the flame
HEADING = "calls inside"
MARKS = {"▶ ": "▶: a landmark", "[C] ": "[C]: written in C or C++", "… ": "…: folded calls"}
# what a block is -> how it looks
_EDGED = "box-sizing:border-box;height:22px;line-height:19px;border:1.5px {};border-color:{};"
_EDGED += "background-color:{}"
LOOKS = {
    "on the path to a landmark": f"background-color:{ink.format_colour('name')};color:{ink.PAGE}",
    "a landmark (▶)": f"background-color:{ink.format_colour('update')};color:{ink.PAGE}",
    "written in C or C++": _EDGED.format("solid", ink.format_colour("op"), ink.format_fill("op")),
    "another call": f"background-color:color-mix(in srgb,{ink.TEXT} 14%,{ink.PAGE})",
    "+5: five other calls": _EDGED.format(
        "dashed", ink.format_colour("quiet"), ink.format_fill("quiet")
    ),
}
WAY, DOOR, IN_C, OTHER, SIDE = LOOKS

# A block of the flame: `says`: its name, calls and module; `inside`: blocks of what it calls.
Block = namedtuple("Block", ["words", "says", "kind", "count", "inside"])
# One line of an outline. `inside`: how many calls it represents, with those inside them.
Line = namedtuple("Line", ["depth", "words", "inside", "door"], defaults=[False])


def outline(tree: CallTree) -> tuple[Line, ...]:
    """Return the lines of a tree; each call is counted once, equal neighbours are one line."""
    inside, way, calls = tree.inside(), tree.on_the_way(), tree.calls
    whole = len(calls) <= MOST_WHOLE or not way
    lines, at = [], 0
    while at < len(calls):
        call, stop = calls[at], at + 1
        if whole or at in way:
            words = f"{'[C] ' * call.c}{clipped(call.path, LONGEST)}{' (raised)' * call.raised}"
            lines.append(Line(call.depth, words, inside[at], call.door))
        else:
            stop = at + inside[at]
            while stop < len(calls) and stop not in way and calls[stop].depth == call.depth:
                stop += inside[stop]
            here = (clipped(c.path, LONGEST) for c in calls[at:stop] if c.depth == call.depth)
            words = [f"{name} ×{n}" if n > 1 else name for name, n in Counter(here).items()]
            lines.append(Line(call.depth, f"… {listed(words, 4)}", stop - at))
        at = stop
    merged = []
    for line, same in groupby(lines):
        times = len(list(same))
        if times > 1 and line.inside == 1:
            merged.append(line._replace(words=f"{line.words} ×{times}", inside=times))
        else:
            merged += [line] * times
    left_out = len(merged) - MOST_LINES
    if left_out > 0:
        words = f"… and {left_out:,} more lines; .model.calls lists every call"
        merged[MOST_LINES:] = [Line(0, words, 0)]
    return tuple(merged)


def _text(model: CallTree) -> str:
    most, body = len(model.calls), []
    for line in outline(model):
        bar = "█" * max(1, round(BAR * line.inside / most))
        blanks = "  " * min(line.depth, MOST_ROWS)
        body.append(f"{line.inside:>5} {bar:<{BAR}} {blanks}{_words(line)}".rstrip())
    words = "\n".join(body)
    marks = "; ".join(said for mark, said in MARKS.items() if f" {mark}" in words)
    heading = f"{HEADING}{f' ({marks})' * bool(marks)}" if body else "no call recorded"
    title, ending, note = map(one_line, (model.title, _ending(model), model.note))
    return "\n".join(part for part in (title, heading, *body, ending, note) if part)


def _html(model: CallTree) -> str:
    narrow, branches, path = max(0, len(model.calls) - MOST_BLOCKS), [], []
    for line in outline(model):  # each with the lines below it, for the nested lists
        del path[min(line.depth, len(path), MOST_ROWS) :]
        (path[-1][1] if path else branches).append((line, []))
        path.append((path[-1][1] if path else branches)[-1])
    flame = draw_flame(model)
    kinds, scaled = {block.kind for block in _walk(flame)}, not any(c.door for c in model.calls)
    values = {"branches": branches, "words": _words, "ending": _ending(model), "flame": flame}
    values |= {"looks": {kind: LOOKS[kind] for kind in LOOKS if kind in kinds}, "look": LOOKS}
    values |= {"bright": (WAY, DOOR), "side": SIDE, "scaled": scaled}
    values["flame_cut"] = f"The {narrow:,} smallest calls have no block." if narrow else ""
    return render("call_tree.html", model=model, script=read_script("flame.js"), **values)


def _words(line: Line) -> str:
    return f"{'▶ ' * line.door}{one_line(line.words)}"


def _ending(model: CallTree) -> str:
    return f"It ended in {one_line(model.outcome)}" if model.outcome else ""


def draw_flame(model: CallTree) -> list[Block]:
    """Return the blocks of a flame: the way to each landmark; what is beside it is one block."""
    inside, calls = model.inside(), model.calls
    doors = [at for at, call in enumerate(calls) if call.door][:MOST_NAMED]
    way = {at for at, n in enumerate(inside) if any(at <= door < at + n for door in doors)}
    places = [at for at, call in enumerate(calls) if call.depth < MOST_ROWS]
    drawn = way | set(sorted(places, key=lambda at: -inside[at])[:MOST_BLOCKS])

    def blocks(at: int, stop: int, beside: bool) -> list[Block]:
        made, side = [], []
        while at < stop:
            end, call = at + inside[at], calls[at]
            if call.depth < MOST_ROWS and at in drawn:
                kind = DOOR if call.door else WAY if at in way else IN_C if call.c else OTHER
                words = f"▶ {call.name}" if call.door else call.path
                inner = blocks(at + 1, end, at in way)
                one = Block(clipped(words, LONGEST), _says(call, inside[at]), kind, end - at, inner)
                (made if at in way or not beside else side).append(one)
            at = end
            if side and (at >= stop or at in way):
                count = sum(block.count for block in side)
                names = listed([block.words for block in side], 4)
                says = f"{counted(count, 'call')} off the path: {names}"
                made.append(Block(f"+{count:,}", says, SIDE, count, side))
                side = []
        return made

    return blocks(0, len(calls), bool(way))


def _says(call: Call, count: int) -> str:
    parts = [clipped(call.name, LONGEST), f"{counted(count, 'call')}, this one included"]
    parts += [clipped(call.module, LONGEST)] if call.module else []
    parts += ["written in C or C++"] * call.c + ["raised an error"] * call.raised
    return one_line(" · ".join(parts))


def _walk(blocks: list[Block]) -> Iterator[Block]:
    """Yield the blocks that are seen before one zooms."""
    for block in blocks:
        yield block
        yield from _walk(block.inside if block.kind != SIDE else [])


call_tree = View(_text, _html)
