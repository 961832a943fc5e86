"""A side by side -> two columns of code: fixed-width text, or an HTML table with numbered lines.

A line on the left that more lines on the right came from is written once; below it stands a mark
and its number. In HTML all of them are joined by one colour, and a line that only one side has is
lit, with + or − before it. Where the model folds, a long run of equal lines is counted.
"""

from collections import Counter
from dataclasses import replace
from itertools import groupby

from helpers.model.side_by_side import Pair, SideBySide
from helpers.view import row_limit
from helpers.view.markup import joined, one_line, render

MARK = "″"
AGAIN = f"{MARK} the line of this number once more"
BANDS = (
    "name",
    "op",
    "backward",
    "cell",
    "code",
    "tensor",
)  # colours of lines that belong together
ALL = "the model has all of them (`.model.pairs`)"
DOTS = Pair(0, "", 0, "")
COST = 1_900  # bytes of markup around the four cells of a row that is lit
LONGEST_RUN = 4  # equal lines that are shown where the model folds
LONGEST = 44  # characters; in HTML the lines of a side with longer ones wrap
WIDEST = 60  # characters of the left column; a longer line pushes only its own row


def text(model: SideBySide) -> str:
    """Return both sides in columns, each line behind its number."""
    model = folded(row_limit.trimmed(model))
    rows = [(_left(pair), _right(pair)) for pair in model.pairs]
    part = row_limit.fold([max(WIDEST, len(a)) + len(b) + 4 for a, b in rows], row_limit.TEXT_ROOM)
    rows = part.of(rows, lambda: ("  …", "  …"))
    heads = (one_line(model.left_title), one_line(model.right_title))
    width = min(WIDEST, max(len(left) for left, _ in (heads, *rows)))
    lines = [f"{left:<{width}} │ {right}".rstrip() for left, right in (heads, *rows)]
    again = AGAIN if any(pair.again for pair in model.pairs) else ""
    return joined(model.title, *lines, again, part.says(ALL), model.note)


def html(model: SideBySide) -> str:
    """Return both sides as one table, a row per line on the right."""
    model = folded(row_limit.trimmed(model))
    spent = [COST + row_limit.cost(p.left_text + p.right_text) for p in model.pairs]
    part = row_limit.fold(spent)
    shown = replace(model, pairs=tuple(part.of(model.pairs, lambda: DOTS)))
    return render(
        "side_by_side.html",
        model=shown,
        mark=MARK,
        code=code,
        dots=DOTS,
        legend=_legend(model),
        left_out=part.says(ALL),
        bands=_bands(model),
        both=_both(model),
        wraps=[
            max((len(code(line)) for line in side), default=0) > LONGEST
            for side in zip(*((p.left_text, p.right_text) for p in shown.pairs), strict=True)
        ]
        or [False, False],
    )


def _legend(model: SideBySide) -> str:
    """Return what the marks and colours in the HTML form stand for."""
    pairs = model.pairs
    said = {
        AGAIN: any(pair.again for pair in pairs),
        "the same colour: made of one line": bool(_bands(model)),
        "+ on the right alone": any(p.right and not p.left and p.right_text.strip() for p in pairs),
        "− on the left alone": _both(model) and any(pair.left and not pair.right for pair in pairs),
    }
    return "   ".join(words for words, there in said.items() if there)


def _both(model: SideBySide) -> bool:
    """Say whether there is a right side: without one, nothing on the left is gone."""
    return any(pair.right for pair in model.pairs)


def folded(model: SideBySide) -> SideBySide:
    """Return the model with the first and the last line of each long run of equal lines alone."""
    if not model.folds:
        return model
    pairs = []
    for same, run in groupby(model.pairs, _equal):
        run = list(run)
        if same and len(run) > LONGEST_RUN:
            between = Pair(0, f"… {len(run) - 2} lines are the same", 0, "…")
            run = [run[0], between, run[-1]]
        pairs += run
    return replace(model, pairs=tuple(pairs))


def _equal(pair: Pair) -> bool:
    return bool(pair.left and pair.right) and pair.left_text.strip() == pair.right_text.strip()


def _bands(model: SideBySide) -> dict[int, str]:
    """Return a colour for each line on the left that more than one line on the right came from."""
    times = Counter(pair.left for pair in model.pairs if pair.left and pair.right)
    joined_lines = sorted(line for line, count in times.items() if count > 1)
    return {line: BANDS[n % len(BANDS)] for n, line in enumerate(joined_lines)}


def code(line: str) -> str:
    """Return a line of code ready to show: tabs become blanks, controls are spelled out."""
    return one_line(row_limit.cut(line).expandtabs(4))


def _left(pair: Pair) -> str:
    if not pair.left:
        return f"    {pair.left_text}".rstrip()
    return f"{pair.left:>3} {MARK}" if pair.again else f"{pair.left:>3} {code(pair.left_text)}"


def _right(pair: Pair) -> str:
    if not pair.right:
        return f"    {pair.right_text}".rstrip()
    return f"{pair.right:>3} {code(pair.right_text)}"
