"""An outcome -> one worded line, with a mark and a colour that say the same.

Below it stands what there is to see: two answers beside each other, or what the learner has built.
"""

import difflib
import re

from markupsafe import Markup, escape

from helpers.model.graph import Graph
from helpers.model.job import JobGraph
from helpers.model.ledger import Ledger
from helpers.model.listing import Listing
from helpers.model.outcome import Beside, Outcome
from helpers.view import ledger, table
from helpers.view.diagram import graph, job
from helpers.view.markup import render, visible

MARKS = {"untried": "○", "passed": "✓", "failed": "✕", "hint": "→"}
PIECES = re.compile(r"-?\d[\d.]*|'[^']*'|\w+|\s+|.", re.DOTALL)  # numbers and names as wholes
LONGEST_MARKED = 2_000  # characters: of longer answers no difference is marked
_VIEWS = {Graph: graph, JobGraph: job, Ledger: ledger, Listing: table}
_APART = Markup('<b style="text-decoration:underline">{}</b>')


def text(model: Outcome) -> str:
    """Return the outcome as one or two lines of text, and what was built."""
    first = f"{MARKS[model.state]} {model.exercise}: {sentence(model)}"
    parts = [f"{first}\n  {model.more}" if model.more else first]
    if view := _view(model.picture):
        parts.append(view.text(model.picture))
    return "\n\n".join(parts)


def html(model: Outcome) -> str:
    """Return the outcome as a bordered status line, and below it what there is to see."""
    view = _view(model.picture)
    return render(
        "outcome.html",
        model=model,
        mark=MARKS[model.state],
        columns=_columns(model.beside) if model.beside else (),
        picture=Markup(view.html(model.picture)) if view else "",
    )


def sentence(model: Outcome) -> str:
    """Return the state and its reason as one phrase."""
    if model.state == "failed":
        return f"failed because {model.because}"
    if model.state == "hint":
        return model.because
    return f"{model.state}. {model.because}".strip() if model.because else model.state


def _view(picture):
    return next((view for kind, view in _VIEWS.items() if isinstance(picture, kind)), None)


def _columns(beside: Beside) -> tuple[tuple[str, Markup, str], ...]:
    """Return heading, words and ink of both answers; where they part is marked."""
    yours, real = beside.yours, beside.real
    return ("yours", _marked(yours, real), "failed"), (beside.who, _marked(real, yours), "passed")


def _marked(words: str, other: str) -> Markup:
    """Return escaped words; what the other answer has not, of much the same, is underlined."""
    pieces, others = (PIECES.findall(visible(one)) for one in (words, other))
    if len(words) + len(other) > LONGEST_MARKED or not _alike(pieces, others):
        return escape(visible(words))
    shown = Markup("")
    for kind, start, end, *_ in difflib.SequenceMatcher(None, pieces, others, False).get_opcodes():
        piece = "".join(pieces[start:end])
        shown += _APART.format(piece) if kind != "equal" and piece else escape(piece)
    return shown


def _alike(pieces: list[str], others: list[str]) -> bool:
    return any(piece in others for piece in pieces if piece.strip())
