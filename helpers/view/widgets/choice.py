"""A choice -> a question that keeps its answer back: text, HTML, or a widget with radio buttons."""

from helpers.model.choice import Choice
from helpers.view.markup import render, visible
from helpers.view.widgets.base import widget_class


def text(model: Choice) -> str:
    """Return the question and its numbered choices; the answer is left out on purpose."""
    numbered = [f"  {n}. {_hung(choice)}" for n, choice in enumerate(model.choices, 1)]
    closing = "Decide first; then `predict.reveal()` says what running it gave."
    return "\n".join([visible(model.question), *numbered, closing])


def html(model: Choice) -> str:
    """Return the question and its choices, with the answer folded away below them."""
    return render("choice.html", model=model)


def widget(model: Choice):
    """Return an anywidget that asks first and answers after; all of it runs in the page."""
    return _widget_class()(
        question=visible(model.question),
        choices=[visible(choice) for choice in model.choices],
        answer=model.choices.index(model.answer),
        verb="raised" if model.raised else "gave",
        why=visible(model.why),
    )


def _hung(choice: str) -> str:
    return visible(choice).replace("\n", "\n     ")


_widget_class = widget_class(
    __file__,
    styles=("form.css",),
    says=lambda w: f"{w.question!r}, {len(w.choices)} choices",
    traits=lambda t: {
        "question": t.Unicode(),
        "choices": t.List(t.Unicode()),
        "answer": t.Int(),
        "verb": t.Unicode("gave"),
        "why": t.Unicode(),
        "picked": t.Int(-1),
        "checked": t.Bool(False),
        "keeps": t.Bool(False),
        "kept": t.Int(0),
    },
)
