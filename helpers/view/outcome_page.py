"""What came of an exercise -> a line with its mark and the reason, and a picture."""

from markupsafe import Markup

from ..model.phrase import end_sentence
from ..model.question_records import Outcome
from .markup import render
from .picture_views import find_view

OUTCOME_MARKS = {"untried": "○", "passed": "✓", "failed": "✕", "hint": "→"}


def render_outcome_text(model: Outcome) -> str:
    """Return the outcome as plain text: mark, exercise and reason, what to do, and the picture."""
    line = f"{OUTCOME_MARKS[model.state]} {model.exercise}: {_describe_outcome(model)}"
    if model.more:
        line = f"{line}\n  {model.more}"

    view = find_view(model.picture)
    if view is None:
        return line
    return f"{line}\n\n{view.text(model.picture)}"


def _describe_outcome(model: Outcome) -> str:
    """Return the words after the name of the exercise; a hint has no state in front of it."""
    if model.state == "hint":
        return model.because
    if model.state == "failed":
        return f"failed because {model.because}"
    if model.because:
        return f"{model.state}. {model.because}".strip()
    return model.state


def render_outcome_html(model: Outcome) -> str:
    """Return the outcome as HTML; where both answers are known, they stand beside each other."""
    head = model.state
    reason = model.because
    if model.state == "hint":  # the first sentence of a hint is its heading
        head, _, reason = reason.partition(". ")

    columns = ()  # the heading, the words and the colour of each answer
    if model.beside:
        reason = model.beside.after.lstrip(" .,:;")  # the words before are said by the columns
        own_column = ("yours", model.beside.yours, "failed")
        real_column = (model.beside.who, model.beside.real, "passed")
        columns = (own_column, real_column)
    if reason:
        reason = reason[:1].upper() + end_sentence(reason[1:])

    view = find_view(model.picture)
    return render(
        "outcome.html",
        model=model,
        mark=OUTCOME_MARKS[model.state],
        head=head,
        columns=columns,
        because=reason,
        picture=Markup(view.html(model.picture)) if view else "",
    )
