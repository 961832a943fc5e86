"""A tree of calls -> counts and nested lines: text with bars, or a strip above folding lists.

The strip is read from above: each row is one call deeper, and a block is as wide as the number of
calls inside it. It shows counts, never times.
"""

import math
from dataclasses import dataclass

from helpers.model.calls import CallTree
from helpers.model.phrase import clipped
from helpers.view import ink
from helpers.view.call_outline import MOST_WHOLE, Line, outline
from helpers.view.markup import one_line, render
from helpers.view.picture import pictured

BAR = 16  # characters of the longest bar
WIDTH, ROW, LETTER = 860, 19, 7.0  # pixels of the strip, of a row, of a letter
FITS = 0.88  # of its natural size, where letters have 10 pixels; a narrower window scrolls
MOST_NAMED, LONGEST_NAME = 8, 40  # landmarks whose names stand below the strip; letters of one
MOST_ROWS, MOST_BLOCKS = 40, 5_000
HEADING = "calls inside"
MARKS = {"▶ ": "▶: a landmark", "[C] ": "[C]: written in C or C++", "… ": "…: folded calls"}
# what a block is -> how it looks, as the strip's own style has it
_EDGED = "background-color:{};border:1.5px solid;border-color:{}"
LOOKS = {
    "on the way to a landmark": "background-color:color-mix(in srgb,"
    f"{ink.colour('name')} 30%,{ink.PAGE})",
    "a landmark (▶)": _EDGED.format(ink.fill("update"), ink.colour("update")),
    "written in C or C++": _EDGED.format(ink.fill("op"), ink.colour("op")),
    "another call": f"background-color:color-mix(in srgb,{ink.TEXT} 22%,{ink.PAGE})",
}


@dataclass(frozen=True)
class Branch:
    """One line and the lines below it, for the nested lists."""

    line: Line
    branches: list["Branch"]


def text(model: CallTree) -> str:
    """Return the outline with a count and a bar before each line."""
    most, body = len(model.calls), []
    for line in outline(model):
        bar = "█" * max(1, round(BAR * line.inside / most))
        blanks = "  " * min(line.depth, MOST_ROWS)
        body.append(f"{line.inside:>5} {bar:<{BAR}} {blanks}{_words(line)}".rstrip())
    words = "\n".join(body)
    marks = "; ".join(said for mark, said in MARKS.items() if f" {mark}" in words)
    heading = f"{HEADING}{f' ({marks})' * bool(marks)}" if body else "no call of a framework"
    said = (one_line(model.title), heading, *body, _ending(model), one_line(model.note))
    return "\n".join(part for part in said if part)


def html(model: CallTree) -> str:
    """Return the strip as an image, and the outline as lists that fold."""
    return render(
        "call_tree.html",
        model=model,
        branches=_branches(outline(model)),
        words=_words,
        ending=_ending(model),
        **(pictured(_strip(model), FITS) if model.calls else {"image": ""}),
        alt=f"{model.title}: a strip of {len(model.calls)} calls, listed below",
        opened=len(model.calls) <= MOST_WHOLE,
        strip_cut=_strip_cut(model),
        looks=LOOKS,
    )


def _strip_cut(model: CallTree) -> str:
    """Say what the strip leaves out."""
    deep = sum(call.depth >= MOST_ROWS for call in model.calls)
    narrow = max(0, len(model.calls) - deep - MOST_BLOCKS)
    said = [f"The {narrow:,} narrowest blocks are not drawn."] if narrow else []
    said += [f"{deep:,} calls deeper than {MOST_ROWS} rows are not drawn."] if deep else []
    return " ".join(said)


def _words(line: Line) -> str:
    return f"{'▶ ' * line.door}{one_line(line.words)}"


def _ending(model: CallTree) -> str:
    return f"It ended in {one_line(model.outcome)}" if model.outcome else ""


def _branches(lines: tuple[Line, ...]) -> list[Branch]:
    root, path = [], []
    for line in lines:
        branch = Branch(line, [])
        del path[min(line.depth, len(path), MOST_ROWS) :]
        (path[-1].branches if path else root).append(branch)
        path.append(branch)
    return root


def _strip(model: CallTree) -> str:
    """Return the strip as SVG text, as wide as its blocks, or as the names that stand below."""
    rows = min(MOST_ROWS, 1 + max(call.depth for call in model.calls))
    blocks = _blocks(model)
    marks = _marks(blocks.pop("landmarks"), rows * ROW)
    height = max([rows * ROW, *(mark["y"] + 6 for mark in marks)])
    width = max([WIDTH, *(math.ceil(mark["right"]) for mark in marks)])
    return render("call_strip.svg", width=width, height=height, marks=marks, **blocks)


def _marks(landmarks: list[tuple[float, int, str]], low: int) -> list[dict]:
    """Return name and place of the first landmarks, in rows below the strip where none meet."""
    starts, marks = [], []
    for x, y, name in landmarks[:MOST_NAMED][::-1]:  # from the right: a line stays clear of words
        words = f"▶ {_cut(name, LONGEST_NAME)}"
        wide = len(words) * LETTER
        left = max(0.0, x - LETTER / 2)
        right = left + wide + 2 * LETTER
        rows = range(len(starts))
        row = next((n for n in rows if right < min(starts[n:])), len(starts))
        starts[row : row + 1] = [left]
        base = low + 18 + ROW * row
        mark = {"x": x, "top": y, "left": round(left, 1), "y": base, "words": words}
        marks.append({**mark, "right": left + wide})
    return marks


def _blocks(model: CallTree) -> dict:
    """Return the blocks of each kind as one SVG path, and the labels that have room.

    `landmarks`: place and name of those whose block has no room for it.
    """
    inside, way, unit = model.inside(), model.on_the_way(), WIDTH / len(model.calls)
    paths, labels, landmarks = {"plain": [], "way": [], "c": [], "door": []}, [], []
    for at in _drawn(model, inside):
        call = model.calls[at]
        x, y, wide = round(at * unit, 1), call.depth * ROW, round(inside[at] * unit, 1)
        kind = "door" if call.door else "c" if call.c else "way" if at in way else "plain"
        paths[kind].append(f"M{x:g} {y}h{wide:g}v{ROW - 2}h-{wide:g}z")
        room = int((wide - 6) / LETTER)
        if room >= 8:
            labels.append((round(x + 4, 1), y + 12, _cut(call.path, room)))
        if call.door and room < len(call.path):
            landmarks.append((round(x + min(wide, 6) / 2, 1), y + ROW - 2, call.name))
    drawn = {kind: "".join(shapes) for kind, shapes in paths.items()}
    return {"paths": drawn, "labels": labels, "landmarks": landmarks}


def _drawn(model: CallTree, inside) -> list[int]:
    """Return the places of the blocks that are drawn: of too many, the widest."""
    places = [at for at, call in enumerate(model.calls) if call.depth < MOST_ROWS]
    if len(places) > MOST_BLOCKS:
        places = sorted(sorted(places, key=lambda at: -inside[at])[:MOST_BLOCKS])
    return places


def _cut(words: str, room: int) -> str:
    return clipped(words, room)
