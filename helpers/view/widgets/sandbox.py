"""A sandbox -> its choices: text, a table, or a widget that asks the kernel for the truth."""

from collections.abc import Callable

from helpers.model.sandbox import Control, Sandbox
from helpers.view.markup import grid, render
from helpers.view.widgets.base import INTERRUPTED, widget_class

HEADINGS = ("choice", "starts with", "can be", "matters for")
WORDS = ("ask", "button", "nudge", "style")


def text(model: Sandbox) -> str:
    """Return what can be picked, what is picked at first, and how to do the same in code."""
    table = grid(HEADINGS, rows(model))
    return "\n".join((model.title, table, model.note, guesses(model), f"In code: {model.code}"))


def html(model: Sandbox) -> str:
    """Return the same as a table."""
    return render(
        "sandbox.html", model=model, headings=HEADINGS, rows=rows(model), guesses=guesses(model)
    )


def guesses(model: Sandbox) -> str:
    """Return what can be foretold of a call, in the words of the form."""
    *most, last = model.verdicts
    words = f"{', '.join(most)} or {last}" if most else last
    return f"To foretell: {model.ask[:1].lower()}{model.ask[1:]} {words}."


def rows(model: Sandbox) -> list[list[str]]:
    """Return a row of words per control."""
    return [[c.name, c.first, "; ".join(c.options), _matters(c)] for c in model.controls]


def widget(model: Sandbox, show: Callable[[dict], str], run: Callable[[dict, str], dict]):
    """Return an anywidget. `show(picked)`: the call's code; `run(picked, guess)`: what came of it.

    What `run` returns must be a dict of `says` (str), `right` (bool) and `rows` (safe HTML).
    """
    made = _widget_class()(
        title=model.title,
        note=model.note,
        controls=[[c.name, list(c.options), c.of, list(c.matters)] for c in model.controls],
        verdicts=list(model.verdicts),
        words={name: getattr(model, name) for name in WORDS},
        picked=model.start(),
        call=show(model.start()),
    )

    def on_pick(change):
        made.call = show(change["new"])

    def on_message(_, content, buffers):
        picked, press = content.get("picked", made.picked), content.get("press", "")
        if press and press == made.answer.get("press"):
            return  # pressed again before it was answered
        try:
            answer = run(picked, content.get("guess", ""))
        except KeyboardInterrupt:
            answer = {"says": INTERRUPTED, "stopped": True, "rows": ""}
        made.answer = {**answer, "of": picked, "call": show(picked), "press": press}

    made.observe(on_pick, "picked")
    made.on_msg(on_message)
    return made


def _matters(control: Control) -> str:
    return f"{control.of}: {', '.join(control.matters)}" if control.of else "every run"


_widget_class = widget_class(
    __file__,
    styles=("form.css", "sandbox.css"),
    says=lambda w: f"{w.title!r}, {len(w.controls)} choices",
    traits=lambda t: {
        "title": t.Unicode(),
        "note": t.Unicode(),
        "controls": t.List(),
        "verdicts": t.List(t.Unicode()),
        "words": t.Dict(),
        "picked": t.Dict(),
        "call": t.Unicode(),
        "answer": t.Dict(),
    },
)
