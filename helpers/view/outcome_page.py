"""What a check says of an exercise -> a line with a mark and the reason, and maybe a picture.
The state of an outcome is `untried`, `passed`, `failed`, or `hint` for a hint that a learner asked
for.
"""

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
    """Return the words after the name of the exercise: the state and the reason.

    A hint is only its text. An outcome without a reason is only its state.
    """
    if model.state == "hint":
        return model.because
    if model.state == "failed":
        return f"failed because {model.because}"
    if model.because:
        return f"{model.state}. {model.because}".strip()
    return model.state


def render_outcome_html(model: Outcome) -> str:
    """Return the outcome as HTML.

    If the reason compares the learner's answer with the real one, the two stand beside each other.
    """
    head = model.state
    reason = model.because
    if model.state == "hint":  # the first sentence of a hint is its heading
        head, _, reason = reason.partition(". ")

    columns = ()  # (heading, text, colour) of each answer
    if model.beside:  # the reason is: words before, the learner's answer, the real one, words after
        # The template writes the words before the answers, and the columns show the answers.
        reason = model.beside.after.lstrip(" .,:;")
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
