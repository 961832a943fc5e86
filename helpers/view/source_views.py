"""Code and output -> lines under each other or side by side: fixed-width text, or HTML.

A line on the left of two that more lines on the right came from is written once; below it stands a
mark and its number. In HTML all of them are joined by one colour, and a line that only one side has
is lit, with + or − before it. Where the model folds, a long run of equal lines is counted.
"""

from collections import Counter
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from markupsafe import Markup, escape
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from helpers.model.files import File, Files
from helpers.model.phrase import counted
from helpers.model.side_by_side import Pair, SideBySide
from helpers.model.transcript import Transcripts
from helpers.view import View, ink, row_limit
from helpers.view.markup import joined, one_line, render, visible

MARK = "″"
AGAIN = f"{MARK} the line of this number once more"
BANDS = ("name", "op", "backward", "cell", "code", "tensor")  # of lines that belong together
PAIRS = "the model has all of them (`.model.pairs`)"
DOTS = Pair(0, "…", 0, "…")
COST = 1_900  # bytes of markup around the four cells of a row that is lit
LONGEST_RUN = 4  # equal lines that are shown where the model folds
LONGEST = 44  # characters; in HTML the lines of a side with longer ones wrap
WIDEST = 60  # characters of the left column; a longer line pushes only its own row
FILES = "the model has all of them (`.model.files`)"
MOST_LINES = 400  # of all files together
# kind of word -> its style; the first that fits
_STYLES = {
    Comment: f"color:{ink.colour('quiet')};font-style:italic",
    String: f"color:{ink.colour('tensor')}",
    Number: f"color:{ink.colour('name')}",
    Keyword: f"color:{ink.colour('function')};font-weight:600",
    Operator.Word: f"color:{ink.colour('function')};font-weight:600",
    Name.Function: f"color:{ink.colour('name')};font-weight:600",
    Name.Class: f"color:{ink.colour('name')};font-weight:600",
}
_SPAN = Markup('<span style="{}">{}</span>')
ENDS = {"well": "○", "error": "△", "killed": "✕"}
RUNS = "the model has all of them (`.model.runs`)"
LONGEST_OUTPUT = 100_000  # characters of what one run printed
FOLDED = 3  # more runs than this are folded, one by one


# -- side by side ----------------------------------------------------------------------------------


def _pairs_text(model: SideBySide) -> str:
    """Return both sides in columns, each line behind its number."""
    model = _folded(model)
    rows = [
        (_numbered(p.left, p.left_text, p.again), _numbered(p.right, p.right_text))
        for p in model.pairs
    ]
    part = row_limit.fold([max(WIDEST, len(a)) + len(b) + 4 for a, b in rows], row_limit.TEXT_ROOM)
    rows = part.of(rows, ("  …", "  …"))
    heads = (one_line(model.left_title), one_line(model.right_title))
    width = min(WIDEST, max(len(left) for left, _ in (heads, *rows)))
    lines = [f"{left:<{width}} │ {right}".rstrip() for left, right in (heads, *rows)]
    again = AGAIN if any(pair.again for pair in model.pairs) else ""
    return joined(model.title, *lines, again, part.says(PAIRS), model.note)


def _numbered(number: int, words: str, again: bool = False) -> str:
    if not number:
        return f"    {words}".rstrip()
    return f"{number:>3} {MARK if again else _code(words)}"


def _code(line: str) -> str:
    """Return a line of code ready to show: tabs become blanks, controls are spelled out."""
    return one_line(row_limit.cut(line).expandtabs(4))


def _pairs_html(model: SideBySide) -> str:
    """Return both sides as one table, a row per line on the right."""
    model = _folded(model)
    part = row_limit.fold([COST + row_limit.cost(p.left_text + p.right_text) for p in model.pairs])
    shown = part.of(model.pairs, DOTS)
    sides = zip(*((p.left_text, p.right_text) for p in shown), strict=True)
    bands, both = _bands(model), any(pair.right for pair in model.pairs)
    return render(
        "side_by_side.html",
        model=replace(model, pairs=tuple(shown)),
        mark=MARK,
        code=_code,
        legend=_legend(model, bands, both),
        left_out=part.says(PAIRS),
        bands=bands,
        both=both,  # without a right side, nothing on the left is gone
        wraps=[max(map(len, map(_code, side))) > LONGEST for side in sides] or [False, False],
    )


def _legend(model: SideBySide, bands, both: bool) -> str:
    """Return what the marks and colours in the HTML form stand for."""
    pairs = model.pairs
    said = {
        AGAIN: any(pair.again for pair in pairs),
        "the same colour: made of one line": bool(bands),
        "+ on the right alone": any(p.right and not p.left and p.right_text.strip() for p in pairs),
        "− on the left alone": both and any(pair.left and not pair.right for pair in pairs),
    }
    return "   ".join(words for words, there in said.items() if there)


def _folded(model: SideBySide) -> SideBySide:
    """Return the model with the first and the last line of each long run of equal lines alone."""
    pairs = []
    for same, run in groupby(model.pairs if model.folds else (), _same):
        run = list(run)
        if same and len(run) > LONGEST_RUN:
            run[1:-1] = [Pair(0, f"… {len(run) - 2} lines are the same", 0, "…")]
        pairs += run
    return replace(model, pairs=tuple(pairs)) if model.folds else model


def _same(pair: Pair) -> bool:
    return bool(pair.left and pair.right) and pair.left_text.strip() == pair.right_text.strip()


def _bands(model: SideBySide) -> dict[int, str]:
    """Return a colour for each line on the left that more than one line on the right came from."""
    times = Counter(pair.left for pair in model.pairs if pair.left and pair.right)
    shared = sorted(line for line, count in times.items() if count > 1)
    return {line: BANDS[n % len(BANDS)] for n, line in enumerate(shared)}


# -- files -----------------------------------------------------------------------------------------


def _files_text(model: Files) -> str:
    """Return each file's name with its lines below it, numbered; a new line bears a plus."""
    parts, (shown, rest) = [one_line(model.title)], _shown_files(model)
    for file, lines in shown:
        rows = [f"{n:>5} {_new(file, n)} {one_line(line)}" for n, line in enumerate(lines, 1)]
        head = f"{one_line(file.name)} ({_length(file)})"
        parts.append("\n".join(row.rstrip() for row in (head, *rows)))
    return "\n\n".join(part for part in (*parts, joined(rest, model.note)) if part)


def _files_html(model: Files) -> str:
    """Return the same: each file under its name, which folds it, the first open."""
    shown, rest = _shown_files(model)
    files = []
    for file, lines in shown:
        coloured = enumerate(_coloured("\n".join(lines)), 1)
        files.append((file.name, _length(file), [(n, _new(file, n), line) for n, line in coloured]))
    return render("files.html", model=model, files=files, rest=rest)


def _length(file: File) -> str:
    return counted(len(file.text.split("\n")), "line")


def _new(file: File, number: int) -> str:
    return "+" if number in file.new else " "


def _shown_files(model: Files) -> tuple[list[tuple[File, list[str]]], str]:
    """Return each file with the lines there is room for, and a sentence on the others."""
    shown, whole = [], 0
    for file in model.files:
        lines = file.text.split("\n")
        room = max(MOST_LINES - whole, 0)
        shown.append((file, [row_limit.cut(line) for line in lines[:room]]))
        whole += len(lines)
    return shown, row_limit.first(MOST_LINES, whole).says(FILES, "Lines")


def _coloured(words: str) -> list[Markup]:
    """Return the markup of each line of Python, as Pygments reads it."""
    lines = [[]]  # of each line its pieces: (style, words)
    for token, piece in PythonLexer(stripnl=False, ensurenl=False).get_tokens(words):
        style = next((style for kind, style in _STYLES.items() if token in kind), "")
        for n, part in enumerate(piece.split("\n")):
            lines += [[]] if n else []
            lines[-1].append((style, part))
    shown = []
    for line in lines:
        shown.append(Markup(""))
        for style, pieces in groupby(line, key=itemgetter(0)):
            piece = escape(visible("".join(words for _, words in pieces)))
            shown[-1] += _SPAN.format(style, piece) if style and piece else piece
    return shown


# -- transcripts -----------------------------------------------------------------------------------


def _transcript_text(model: Transcripts) -> str:
    """Return every run: its label, its source if it has one, its output, its end."""
    model, rest = _shown_runs(model)
    alike = _alike(model)
    runs = []
    for run in model.runs:
        source = [f"  > {line}" for line in visible(run.source).strip().split("\n") if run.source]
        printed = visible(run.printed).split("\n") if run.printed else []
        raised = [visible(run.error)] if run.error else []
        ending = [] if alike else [f"{ENDS[run.end]} {run.ending}"]
        lines = [f"  {line}" for line in (*printed, *raised, *ending)]
        runs.append("\n".join([*([f"{run.label}:"] if run.label else []), *source, *lines]))
    parts = [model.title, *runs, alike, rest, model.note]
    return "\n\n".join(visible(part) for part in parts if part)


def _transcript_html(model: Transcripts) -> str:
    """Return the same; where there are many runs, all are folded away under their labels."""
    model, rest = _shown_runs(model)
    folded = len(model.runs) > FOLDED
    model = replace(model, note=joined(rest, model.note))
    return render("transcript.html", model=model, folded=folded, marks=ENDS, alike=_alike(model))


def _alike(model: Transcripts) -> str:
    """Return what is said once where several runs came to one and the same end."""
    ends = {f"{ENDS[run.end]} each: {run.ending}" for run in model.runs}
    return ends.pop() if len(ends) == 1 and 1 < len(model.runs) <= FOLDED else ""


def _shown_runs(model: Transcripts) -> tuple[Transcripts, str]:
    """Return the runs that there is room for, and a sentence on the others."""
    longest = {"label": row_limit.LONGEST_CELL, "error": row_limit.LONGEST_CELL}
    longest |= dict.fromkeys(("source", "printed"), LONGEST_OUTPUT)
    cells = [
        {k: row_limit.cut(getattr(run, k), most) for k, most in longest.items()}
        for run in model.runs
    ]
    part = row_limit.fold([600 + cost for cost in row_limit.costs([[*c.values()] for c in cells])])
    runs = [replace(run, **cell) for run, cell in zip(model.runs, cells, strict=True)]
    shown = (*runs[: part.head], *runs[part.total - part.tail :])
    return replace(model, runs=shown), part.says(RUNS, "Runs")


side_by_side = View(_pairs_text, _pairs_html)
files = View(_files_text, _files_html)
transcript = View(_transcript_text, _transcript_html)
