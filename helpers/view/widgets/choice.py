"""A choice -> a question that keeps its answer back: text, HTML, or a widget with radio buttons."""

from functools import cache
from pathlib import Path

from markupsafe import Markup, escape

from helpers.model.choice import Choice
from helpers.view.markup import render, visible

_CODE = Markup("<code>{}</code>")
_HERE = Path(__file__)


def text(model: Choice) -> str:
    """Return the question and its numbered choices; the answer is left out on purpose."""
    numbered = [f"  {n}. {_hung(choice)}" for n, choice in enumerate(model.choices, 1)]
    closing = "Decide first; then `.reveal()` says what running it gave."
    return "\n".join([visible(model.question), *numbered, closing])


def html(model: Choice) -> str:
    """Return the question and its choices, with the answer folded away below them."""
    return render("choice.html", model=model, coded=_coded)


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


def _coded(words: str) -> Markup:
    """Escape words; what stands between `backticks` becomes code."""
    parts = visible(words).split("`")
    if len(parts) % 2 == 0:  # one without its partner
        return escape(visible(words))
    return Markup("").join(_CODE.format(p) if i % 2 else escape(p) for i, p in enumerate(parts))


@cache
def _widget_class():
    import anywidget
    import traitlets

    class ChoiceWidget(anywidget.AnyWidget):
        _esm = _HERE.with_suffix(".js").read_text(encoding="utf-8")
        _css = _HERE.with_suffix(".css").read_text(encoding="utf-8")
        question = traitlets.Unicode().tag(sync=True)
        choices = traitlets.List(traitlets.Unicode()).tag(sync=True)
        answer = traitlets.Int().tag(sync=True)
        verb = traitlets.Unicode("gave").tag(sync=True)
        why = traitlets.Unicode().tag(sync=True)
        picked = traitlets.Int(-1).tag(sync=True)
        checked = traitlets.Bool(False).tag(sync=True)

        def __repr__(self):
            return f"ChoiceWidget({self.question!r}, {len(self.choices)} choices)"

    return ChoiceWidget
