"""A tree of calls -> counts and nested lines: text with bars, or a strip above folding lists.

The strip is read from above: each row is one call deeper, and a block is as wide as the number of
calls inside it. It shows counts, never times.
"""

from dataclasses import dataclass

from helpers.model.calls import CallTree
from helpers.model.phrase import clipped
from helpers.view.call_outline import MOST_WHOLE, Line, outline
from helpers.view.markup import one_line, render
from helpers.view.picture import as_image

BAR = 16  # characters of the longest bar
WIDTH, ROW, LETTER = 960, 19, 6.7  # pixels of the strip
MOST_ROWS, MOST_BLOCKS = 40, 5_000
HEADING = "calls inside"


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
    heading = [f"{HEADING}"] if body else ["no call of a framework"]
    said = (one_line(model.title), *heading, *body, _ending(model), one_line(model.note))
    return "\n".join(part for part in said if part)


def html(model: CallTree) -> str:
    """Return the strip as an image, and the outline as lists that fold."""
    return render(
        "call_tree.html",
        model=model,
        branches=_branches(outline(model)),
        words=_words,
        ending=_ending(model),
        image=_image(model) if model.calls else "",
        alt=f"{model.title}: a strip of {len(model.calls)} calls, listed below",
        width=WIDTH // 2,
        opened=len(model.calls) <= MOST_WHOLE,
        strip_cut=_strip_cut(model),
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


def _image(model: CallTree) -> str:
    rows = min(MOST_ROWS, 1 + max(call.depth for call in model.calls))
    picture = render("call_strip.svg", width=WIDTH, height=rows * ROW, **_blocks(model))
    return as_image(picture)


def _blocks(model: CallTree) -> dict:
    """Return the blocks of each kind as one SVG path, and the labels that have room."""
    inside, way, unit = model.inside(), model.on_the_way(), WIDTH / len(model.calls)
    paths, labels = {"plain": [], "way": [], "c": [], "door": []}, []
    for at in _drawn(model, inside):
        call = model.calls[at]
        x, y, wide = round(at * unit, 1), call.depth * ROW, round(inside[at] * unit, 1)
        kind = "door" if call.door else "c" if call.c else "way" if at in way else "plain"
        paths[kind].append(f"M{x:g} {y}h{wide:g}v{ROW - 2}h-{wide:g}z")
        room = int((wide - 6) / LETTER)
        if room >= 8:
            labels.append((round(x + 4, 1), y + 12, _cut(call.path, room)))
    return {"paths": {kind: "".join(drawn) for kind, drawn in paths.items()}, "labels": labels}


def _drawn(model: CallTree, inside) -> list[int]:
    """Return the places of the blocks that are drawn: of too many, the widest."""
    places = [at for at, call in enumerate(model.calls) if call.depth < MOST_ROWS]
    if len(places) > MOST_BLOCKS:
        places = sorted(sorted(places, key=lambda at: -inside[at])[:MOST_BLOCKS])
    return places


def _cut(words: str, room: int) -> str:
    return clipped(words, room)
