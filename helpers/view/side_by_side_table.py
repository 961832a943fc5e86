"""A text and another one that was made from it -> their lines beside each other.
A *pair* is a row: a line of the left text and the line on the right that was made from it. A side
of a pair without a line has the number 0. A left line from which several lines were made is in
several pairs; `pair.again` is true in all but the first of them.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from ..model.side_by_side import Pair, SideBySide
from .ceilings import cut_text, limit_rows
from .markup import render
from .plain_text import escape_to_one_line, join_nonempty

MARK = "″"
REPEATS = f"{MARK} repeats the line with this number"
BAND_COLOURS = ("name", "op", "backward", "cell", "code", "tensor")  # of lines of one origin
WHERE_ALL_PAIRS = "the model has all of them (`.model.pairs`)"
LONGEST_RUN = 4  # if the model folds equal lines, a longer run of them is folded
LONGEST = 44  # characters: if a side has longer lines, its lines wrap in HTML
WIDEST = 60  # characters of the left column; a longer line pushes only its own row


def render_pairs_text(model: SideBySide) -> str:
    """Return two columns of numbered lines, with a bar between them."""
    pairs, left_out_note = limit_rows(_fold_runs(model), WHERE_ALL_PAIRS)
    rows = [(escape_to_one_line(model.left_title), escape_to_one_line(model.right_title))]
    for pair in pairs:
        left = _format_numbered_line(pair.left, pair.left_text, pair.again)
        right = _format_numbered_line(pair.right, pair.right_text)
        rows.append((left, right))

    # The left column is as wide as its longest line, but a very long line widens only its own row.
    width = min(WIDEST, max(len(left) for left, _ in rows))
    lines = [f"{left:<{width}} │ {right}".rstrip() for left, right in rows]
    has_repeats = any(pair.again for pair in pairs)
    return join_nonempty(
        model.title, *lines, REPEATS if has_repeats else "", left_out_note, model.note
    )


def _format_numbered_line(number: int, text: str, is_repeated: bool = False) -> str:
    """Return a line after its number; a repeated one has the mark `″` instead of its text."""
    if not number:  # the side has no line here, or the text counts folded lines
        return f"    {text}".rstrip()
    if is_repeated:
        return f"{number:>3} {MARK}"
    return f"{number:>3} {_format_code(text)}"


def _format_code(line: str) -> str:
    """Return a line of source as it is shown: cut, with tabs as spaces."""
    return escape_to_one_line(cut_text(line).expandtabs(4))


def render_pairs_html(model: SideBySide) -> str:
    """Return a table with both texts; lines that were made from the same line have one colour."""
    pairs, left_out_note = limit_rows(_fold_runs(model), WHERE_ALL_PAIRS)
    bands = _colour_origins(pairs)
    has_right_side = any(pair.right for pair in pairs)
    left_wraps = _has_long_line(pair.left_text for pair in pairs)
    right_wraps = _has_long_line(pair.right_text for pair in pairs)
    return render(
        "side_by_side.html",
        model=model,
        pairs=pairs,
        mark=MARK,
        code=_format_code,
        bands=bands,  # number of a left line -> the colour of its pairs
        both=has_right_side,  # without a right side, no line on the left is marked as gone
        legend=_explain_line_marks(pairs, bool(bands), has_right_side),
        wraps=[left_wraps, right_wraps],  # whether the lines of each side may wrap
        left_out=left_out_note,
    )


def _has_long_line(lines: Iterable[str]) -> bool:
    """Return whether a side has a line that is too long for half a page, so that it must wrap."""
    return any(len(_format_code(line)) > LONGEST for line in lines)


def _colour_origins(pairs: list[Pair]) -> dict[int, str]:
    """Return number of a left line -> its colour, if several right lines were made from it."""
    # Number of a left line -> how many right lines were made from it.
    counts = Counter(pair.left for pair in pairs if pair.left and pair.right)
    shared = sorted(line for line, count in counts.items() if count > 1)
    colours = {}
    for number, line in enumerate(shared):
        colours[line] = BAND_COLOURS[number % len(BAND_COLOURS)]
    return colours


def _explain_line_marks(pairs: list[Pair], has_bands: bool, has_right_side: bool) -> str:
    """Return the legend: an explanation of each mark and of the colours, if the pairs have it."""
    explanations = []
    if any(pair.again for pair in pairs):
        explanations.append(REPEATS)
    if has_bands:
        explanations.append("the same colour: made from one line")
    if any(pair.right and not pair.left and pair.right_text.strip() for pair in pairs):
        explanations.append("+ only on the right")
    if has_right_side and any(pair.left and not pair.right for pair in pairs):
        explanations.append("− only on the left")
    return "   ".join(explanations)


def _is_same_line(pair: Pair) -> bool:
    """Return whether both sides of a pair have the same text, indented or not."""
    if not pair.left or not pair.right:
        return False
    return pair.left_text.strip() == pair.right_text.strip()


def _fold_runs(model: SideBySide) -> list[Pair]:
    """Return the pairs to show.

    If `model.folds`, a long run of pairs whose two sides are the same becomes three pairs: its
    first one, a pair that counts those left out, and its last one.
    """
    pairs = []
    for is_same, group in groupby(model.pairs, _is_same_line):
        run = list(group)
        if model.folds and is_same and len(run) > LONGEST_RUN:
            folded = Pair(0, f"… {len(run) - 2} lines are the same", 0, "…")
            pairs += [run[0], folded, run[-1]]
        else:
            pairs += run
    return pairs
