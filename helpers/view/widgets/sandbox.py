"""A sandbox -> its choices: text, a table, or a widget that asks the kernel for the truth."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from helpers.model.sandbox import Control, Sandbox
from helpers.view.markup import grid, render

HEADINGS = ("choice", "starts with", "can be", "matters for")
WORDS = ("ask", "button", "nudge", "style")
_HERE = Path(__file__)


def text(model: Sandbox) -> str:
    """Return what can be picked, what is picked at first, and how to do the same in code."""
    table = grid(HEADINGS, rows(model))
    return "\n".join((model.title, table, model.note, f"In code: {model.code}"))


def html(model: Sandbox) -> str:
    """Return the same as a table."""
    return render("sandbox.html", model=model, headings=HEADINGS, rows=rows(model))


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
        made.answer = run(made.picked, content.get("guess", ""))

    made.observe(on_pick, "picked")
    made.on_msg(on_message)
    return made


def _matters(control: Control) -> str:
    return f"{control.of}: {', '.join(control.matters)}" if control.of else "every call"


@cache
def _widget_class():
    import anywidget
    import traitlets

    class SandboxWidget(anywidget.AnyWidget):
        _esm = _HERE.with_suffix(".js").read_text(encoding="utf-8")
        _css = _HERE.with_suffix(".css").read_text(encoding="utf-8")
        title = traitlets.Unicode().tag(sync=True)
        note = traitlets.Unicode().tag(sync=True)
        controls = traitlets.List().tag(sync=True)
        verdicts = traitlets.List(traitlets.Unicode()).tag(sync=True)
        words = traitlets.Dict().tag(sync=True)
        picked = traitlets.Dict().tag(sync=True)
        call = traitlets.Unicode().tag(sync=True)
        answer = traitlets.Dict().tag(sync=True)

        def __repr__(self):
            return f"SandboxWidget({self.title!r}, {len(self.controls)} choices)"

    return SandboxWidget
