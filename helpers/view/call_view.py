"""A tree of calls -> counts and nested lines: text, or a strip above folding lists."""

import math
from collections import Counter, namedtuple
from itertools import groupby

from helpers.model.framework_records import CallTree
from helpers.model.phrase import clipped, listed
from helpers.view import View, ink
from helpers.view.ink import SMALL, pictured
from helpers.view.markup import one_line, render

MOST_WHOLE = 50  # calls of a tree that is not folded
MOST_LINES, LONGEST = 400, 120
BAR = 16  # characters of the longest bar
WIDTH, ROW = 860, 19  # pixels of the strip, of a row
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

# One line of an outline. `inside`: how many calls it stands for, with those inside them.
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
        words = f"… and {left_out:,} more lines; .model.calls holds every call"
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
    heading = f"{HEADING}{f' ({marks})' * bool(marks)}" if body else "no call of a framework"
    said = (model.title, _ending(model), model.note)
    title, ending, note = map(one_line, said)
    return "\n".join(part for part in (title, heading, *body, ending, note) if part)


def _html(model: CallTree) -> str:
    narrow, branches, path = max(0, len(model.calls) - MOST_BLOCKS), [], []
    for line in outline(model):  # each with the lines below it, for the nested lists
        del path[min(line.depth, len(path), MOST_ROWS) :]
        (path[-1][1] if path else branches).append((line, []))
        path.append((path[-1][1] if path else branches)[-1])
    values = pictured(draw_strip(model)) if model.calls else {"image": ""}
    values |= {"branches": branches, "words": _words, "ending": _ending(model), "looks": LOOKS}
    values["alt"] = f"{model.title}: a strip of {len(model.calls)} calls, listed below"
    values["strip_cut"] = f"The {narrow:,} narrowest blocks are not drawn." if narrow else ""
    values["opened"] = len(model.calls) <= MOST_WHOLE
    return render("call_tree.html", model=model, **values)


def _words(line: Line) -> str:
    return f"{'▶ ' * line.door}{one_line(line.words)}"


def _ending(model: CallTree) -> str:
    return f"It ended in {one_line(model.outcome)}" if model.outcome else ""


def draw_strip(model: CallTree) -> str:
    """Return the strip as SVG; the names of landmarks whose blocks have no room stand below."""
    inside, way, unit = model.inside(), model.on_the_way(), WIDTH / len(model.calls)
    paths, labels, landmarks = {"plain": "", "way": "", "c": "", "door": ""}, [], []
    places = [at for at, call in enumerate(model.calls) if call.depth < MOST_ROWS]
    for at in sorted(sorted(places, key=lambda at: -inside[at])[:MOST_BLOCKS]):
        call = model.calls[at]
        x, y, wide = round(at * unit, 1), call.depth * ROW, round(inside[at] * unit, 1)
        kind = "door" if call.door else "c" if call.c else "way" if at in way else "plain"
        paths[kind] += f"M{x:g} {y}h{wide:g}v{ROW - 2}h-{wide:g}z"
        room = int((wide - 6) / SMALL)
        if room >= 8:
            labels.append((round(x + 4, 1), y + 12, clipped(call.path, room)))
        if call.door and room < len(call.path):
            landmarks.append((round(x + min(wide, 6) / 2, 1), y + ROW - 2, call.name))
    rows = min(MOST_ROWS, 1 + max(call.depth for call in model.calls))
    marks = place_names(landmarks, rows * ROW)
    height = max([rows * ROW, *(mark["y"] + 6 for mark in marks)])
    width = max([WIDTH, *(math.ceil(mark["right"]) for mark in marks)])
    drawn = {"paths": paths, "labels": labels, "marks": marks}
    return render("call_strip.svg", width=width, height=height, **drawn)


def place_names(landmarks: list[tuple[float, int, str]], low: int) -> list[dict]:
    """Return name and place of the first landmarks, each in a row of its own below `low`."""
    marks = []
    for x, y, name in landmarks[:MOST_NAMED][::-1]:  # from the right: a line stays clear of words
        words, left = f"▶ {clipped(name, LONGEST_NAME)}", x - SMALL / 2
        left = max(0.0, min(left, WIDTH - len(words) * SMALL))  # what has no room goes to the left
        mark = {"x": x, "top": y, "left": round(left, 1), "y": low + 18 + ROW * len(marks)}
        marks.append({**mark, "words": words, "right": left + len(words) * SMALL})
    return marks


call_tree = View(_text, _html)
