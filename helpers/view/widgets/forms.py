"""Questions, and programs with switches -> forms in which a learner decides: widgets, or text.
A *sandbox* is a program with switches, its *controls*: a learner picks an option of each, predicts
the *verdict*, such as `trace` or `retrace`, and runs the program.
"""

from collections.abc import Callable

from ...model.question_records import Choice, Control, Sandbox
from ...model.transcripts import Transcript, Transcripts
from .. import View
from ..markup import render
from ..plain_text import escape_invisible, render_grid
from ..source_views import transcript
from ..transcript_page import ENDS
from . import INTERRUPTED, make_widget

HEADINGS = ("choice", "starts with", "can be", "used when")
ALWAYS_USED = "every run"
ASK = "This call will be a"
DECIDE_FIRST = "Decide first. Then `predict.reveal()` shows what happened."
HANGING_INDENT = "\n     "  # of the further lines of a numbered choice


# -- a question ------------------------------------------------------------------------------------


def _render_choice_text(model: Choice) -> str:
    """Return a question with its numbered choices, and how to see the answer."""
    lines = [escape_invisible(model.question)]
    for number, choice in enumerate(model.choices, start=1):
        text = escape_invisible(choice).replace("\n", HANGING_INDENT)
        lines.append(f"  {number}. {text}")
    lines.append(DECIDE_FIRST)
    return "\n".join(lines)


def _render_choice_html(model: Choice) -> str:
    """Return a question with its choices as HTML, for a page without widgets."""
    return render("choice.html", model=model)


def _make_choice_widget(model: Choice):
    """Return the widget of a question.

    The page writes into the state what the learner does: `picked` (the position of a choice, -1 for
    none), `checked`, `skipped`, and `press`, a name that only this press of a button has. If the
    caller sets `keeps`, a kernel records the press and answers in `told`. With `own`, the page asks
    whether the kernel still has this widget.
    """
    question = escape_invisible(model.question)
    state = {
        "question": question,
        "choices": [escape_invisible(choice) for choice in model.choices],
        "answer": model.choices.index(model.answer),
        "why": escape_invisible(model.why),
        "verb": "raised" if model.raised else "gave",
        "picked": -1,
        "checked": False,
        "skipped": False,
        "keeps": False,
        "press": "",
        "told": {},
        "own": "",
    }
    return make_widget("choice", "form", f"{question!r}, {len(model.choices)} choices", state)


# -- a program with switches -----------------------------------------------------------------------


def _render_sandbox_text(model: Sandbox) -> str:
    """Return a table of the controls, what there is to predict, and a line of code for it."""
    table = render_grid(HEADINGS, _list_controls(model))
    code = f"In code: {model.code}"
    return "\n".join([model.title, table, model.note, _describe_guesses(model), code])


def _render_sandbox_html(model: Sandbox) -> str:
    """Return the controls, and what there is to predict, as HTML for a page without widgets."""
    rows = _list_controls(model)
    guesses = _describe_guesses(model)
    return render("sandbox.html", model=model, headings=HEADINGS, rows=rows, guesses=guesses)


def _list_controls(model: Sandbox) -> list[tuple[str, ...]]:
    """Return a row for each control: its name, its first option, all options, when it matters."""
    rows = []
    for control in model.controls:
        used_when = _describe_use(control)
        options = "; ".join(control.options)
        rows.append((control.name, control.first, options, used_when))
    return rows


def _describe_use(control: Control) -> str:
    """Return when a control matters: always, or for some options of another control."""
    if not control.of:
        return ALWAYS_USED
    return f"{control.of}: {', '.join(control.matters)}"


def _describe_guesses(model: Sandbox) -> str:
    """Return the sentence on what there is to predict: one of the verdicts."""
    *others, last = model.verdicts
    verdicts = f"{', '.join(others)} or {last}" if others else last
    question = ASK[:1].lower() + ASK[1:]  # it follows a colon
    return f"To predict: {question} {verdicts}."


def make_sandbox_widget(
    model: Sandbox, show: Callable[[dict], str], run: Callable[[dict, str], dict]
):
    """Return the anywidget of a program with switches.

    Parameters
    ----------
    model : Sandbox
        The controls and the verdicts.
    show : callable
        Takes what is picked, control -> option, and returns the call as text.
    run : callable
        Takes what is picked and the guessed verdict, and returns a dict with `says` (a sentence),
        `right` (whether the guess was right) and `rows` (a table of what happened).
    """
    start = model.start()
    controls = []
    for control in model.controls:
        options = list(control.options)
        controls.append([control.name, options, control.of, list(control.matters)])
    state = {
        "title": model.title,
        "note": model.note,
        "controls": controls,
        "answer": {},
        "verdicts": list(model.verdicts),
        "picked": start,
        "ask": ASK,
        "call": show(start),
        "own": "",
    }
    widget = make_widget(
        "sandbox", "form sandbox", f"{model.title!r}, {len(controls)} choices", state
    )

    def show_call(change: dict) -> None:
        """Show the call of what the learner picks; traitlets calls this when `picked` changes."""
        widget.call = show(change["new"])

    def answer_press(_, content: dict, buffers) -> None:
        """Run the call that is picked, and write the answer into the widget's state.

        `content` is the message of the page: `picked`, `guess`, and `press`, a name that only this
        press of the button has.
        """
        picked = content.get("picked", widget.picked)
        press = content.get("press", "")
        if press and press == widget.answer.get("press"):
            return  # the page has sent this press twice, because the answer took long

        try:
            answer = run(picked, content.get("guess", ""))
        except KeyboardInterrupt:
            answer = {"says": INTERRUPTED, "stopped": True, "rows": ""}
        widget.answer = {**answer, "of": picked, "call": show(picked), "press": press}

    widget.observe(show_call, "picked")
    widget.on_msg(answer_press)
    return widget


# -- programs that run again -----------------------------------------------------------------------


def rerun_widget(model: Transcripts, run: Callable[[str, str], Transcript]):
    """Return an anywidget with a button for each run of a model, and the run's source to edit.

    A press of a button calls `run(label, source)` in the kernel. The page shows the transcript that
    `run` returns.
    """
    title = escape_invisible(model.title)
    state = {
        "title": title,
        "note": escape_invisible(model.note),
        "answer": {},
        "labels": [escape_invisible(each.label) for each in model.runs],
        "sources": [each.source for each in model.runs],
        "own": "",
    }
    widget = make_widget("rerun", "form rerun", f"{title!r}, {len(model.runs)} switches", state)

    def answer_press(_, content: dict, buffers) -> None:
        """Run a program, and write its transcript into the widget's state.

        `content` is the message of the page: `label` and `source`.
        """
        label = str(content.get("label", ""))
        source = str(content.get("source", ""))
        try:
            shown = render_answer(run(label, source))
        except KeyboardInterrupt:
            shown = {"says": INTERRUPTED, "shown": ""}
        # traitlets tells the page only what changes. The number makes an equal answer a change.
        number = widget.answer.get("number", 0) + 1
        widget.answer = {**shown, "number": number, "of": label}

    widget.on_msg(answer_press)
    return widget


def render_answer(run: Transcript) -> dict:
    """Return what the page shows of a run: `says` (how it ended) and `shown` (safe HTML).

    The label and the source are left out of the HTML, because the page shows them already.
    """
    output_only = Transcript("", "", run.printed, run.error, run.code)
    shown = transcript.html(Transcripts("", (output_only,)))
    return {"says": f"{ENDS[run.end]} {run.ending}", "shown": shown}


choice = View(_render_choice_text, _render_choice_html, _make_choice_widget)
sandbox = View(_render_sandbox_text, _render_sandbox_html, make_sandbox_widget)
