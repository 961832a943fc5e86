"""Code and output -> lines under each other or side by side: text, or HTML."""

from collections import Counter
from dataclasses import replace
from itertools import groupby

from markupsafe import Markup, escape
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from ..model.phrase import counted
from ..model.tables import File, Files, Pair, SideBySide, Transcripts
from . import View, ink
from .markup import cut, cut_lines, fit, joined, one_line, render, visible

MARK = "″"
AGAIN = f"{MARK} repeats the line with this number"
BANDS = ("name", "op", "backward", "cell", "code", "tensor")  # of lines that belong together
PAIRS = "the model has all of them (`.model.pairs`)"
LONGEST_RUN = 4  # equal lines that are shown where the model folds
LONGEST = 44  # characters; in HTML the lines of a side with longer ones wrap
WIDEST = 60  # characters of the left column; a longer line pushes only its own row
# kind of word -> its style; the first that fits
_STYLES = {
    Comment: f"color:{ink.format_colour('quiet')};font-style:italic",
    String: f"color:{ink.format_colour('tensor')}",
    Number: f"color:{ink.format_colour('name')}",
    Keyword: f"color:{ink.format_colour('function')};font-weight:600",
    Operator.Word: f"color:{ink.format_colour('function')};font-weight:600",
    Name.Function: f"color:{ink.format_colour('name')};font-weight:600",
    Name.Class: f"color:{ink.format_colour('name')};font-weight:600",
}
_SPAN = Markup('<span style="{}">{}</span>')
ENDS = {"well": "○", "error": "△", "killed": "✕"}
ROOM = 300_000  # characters of all runs together
FOLDED = 3  # more runs than this are folded, one by one


def _pairs_text(model: SideBySide) -> str:
    pairs, rest = fit(_fold_runs(model), PAIRS)
    rows = [(one_line(model.left_title), one_line(model.right_title))]
    rows += [(_number(p.left, p.left_text, p.again), _number(p.right, p.right_text)) for p in pairs]
    width = min(WIDEST, max(len(left) for left, _ in rows))
    lines = [f"{left:<{width}} │ {right}".rstrip() for left, right in rows]
    again = AGAIN if any(pair.again for pair in pairs) else ""
    return joined(model.title, *lines, again, rest, model.note)


def _number(number: int, words: str, again: bool = False) -> str:
    if not number:
        return f"    {words}".rstrip()
    return f"{number:>3} {MARK if again else _show_code(words)}"


def _show_code(line: str) -> str:
    return one_line(cut(line).expandtabs(4))


def _pairs_html(model: SideBySide) -> str:
    pairs, rest = fit(_fold_runs(model), PAIRS)
    sides = zip(*((p.left_text, p.right_text) for p in pairs), strict=True)
    times = Counter(pair.left for pair in pairs if pair.left and pair.right)
    shared = sorted(line for line, count in times.items() if count > 1)
    bands = {line: BANDS[n % len(BANDS)] for n, line in enumerate(shared)}
    both = any(pair.right for pair in pairs)  # without a right side, nothing on the left is gone
    legend = {  # what the marks and colours mean
        AGAIN: any(pair.again for pair in pairs),
        "the same colour: made from one line": bool(bands),
        "+ only on the right": any(p.right and not p.left and p.right_text.strip() for p in pairs),
        "− only on the left": both and any(pair.left and not pair.right for pair in pairs),
    }
    wraps = [max(len(_show_code(line)) for line in side) > LONGEST for side in sides]
    values = {"mark": MARK, "code": _show_code, "bands": bands, "both": both, "left_out": rest}
    values["legend"] = "   ".join(words for words, there in legend.items() if there)
    values["wraps"] = wraps or [False, False]
    return render("side_by_side.html", model=model._replace(pairs=tuple(pairs)), **values)


def _is_same(pair: Pair) -> bool:
    return bool(pair.left and pair.right) and pair.left_text.strip() == pair.right_text.strip()


def _fold_runs(model: SideBySide) -> list[Pair]:
    """Return the pairs; where the model folds, the ends of each long run of equal ones."""
    pairs = []
    for same, run in groupby(model.pairs, _is_same):
        run = list(run)
        if model.folds and same and len(run) > LONGEST_RUN:
            run[1:-1] = [Pair(0, f"… {len(run) - 2} lines are the same", 0, "…")]
        pairs += run
    return pairs


def _files_text(model: Files) -> str:
    parts = [one_line(model.title)]
    for name, length, lines in map(_number_lines, model.files):
        rows = (f"{n:>5}   {one_line(line)}" for n, line in lines)
        head = f"{one_line(name)} ({length})"
        parts.append("\n".join(row.rstrip() for row in (head, *rows)))
    return "\n\n".join(visible(part) for part in (*parts, model.note) if part)


def _files_html(model: Files) -> str:
    files = [_number_lines(file, _colour_python) for file in model.files]
    return render("files.html", model=model, files=files, rest="")


def _number_lines(file: File, colour=list) -> tuple[str, str, list[tuple]]:
    """Return a file's name, its length, and a number and the words of each line."""
    lines = file.text.split("\n")
    return file.name, counted(len(lines), "line"), list(enumerate(colour(cut_lines(lines)), 1))


def _colour_python(lines: list[str]) -> list[Markup]:
    shown = [Markup("")]
    for token, words in PythonLexer(stripnl=False, ensurenl=False).get_tokens("\n".join(lines)):
        style = next((style for kind, style in _STYLES.items() if token in kind), "")
        for n, part in enumerate(words.split("\n")):
            shown += [Markup("")] if n else []
            piece = escape(visible(part))
            shown[-1] += _SPAN.format(style, piece) if style and piece else piece
    return shown


def _transcript_text(model: Transcripts) -> str:
    (model, alike), runs = _cut_runs(model), []
    for run in model.runs:
        source = [f"  > {line}" for line in visible(run.source).strip().split("\n") if run.source]
        ending = "" if alike else f"{ENDS[run.end]} {run.ending}"
        told = [visible(words) for words in (run.printed, run.error, ending) if words]
        lines = [f"  {line}" for words in told for line in words.split("\n")]
        runs.append("\n".join([*([f"{run.label}:"] if run.label else []), *source, *lines]))
    return "\n\n".join(visible(p) for p in (model.title, *runs, alike, model.note) if p)


def _transcript_html(model: Transcripts) -> str:
    (model, alike), folded = _cut_runs(model), len(model.runs) > FOLDED
    return render("transcript.html", model=model, folded=folded, marks=ENDS, alike=alike)


def _cut_runs(model: Transcripts) -> tuple[Transcripts, str]:
    """Return the runs as far as there is room, and one sentence if all ended alike."""
    room = max(ROOM // max(len(model.runs), 1), 200)
    names = ("label", "source", "printed", "error")
    runs = (replace(run, **{n: cut(getattr(run, n), room) for n in names}) for run in model.runs)
    ends = {f"{ENDS[run.end]} each: {run.ending}" for run in model.runs}
    alike = ends.pop() if len(ends) == 1 and 1 < len(model.runs) <= FOLDED else ""
    return replace(model, runs=tuple(runs)), alike


side_by_side = View(_pairs_text, _pairs_html)
files = View(_files_text, _files_html)
transcript = View(_transcript_text, _transcript_html)
