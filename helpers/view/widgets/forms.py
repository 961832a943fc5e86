"""Questions, choices and programs -> forms in which a learner decides: widgets, or text."""

from collections.abc import Callable

from ...model.study_records import Choice, Sandbox
from ...model.tables import Transcript, Transcripts
from .. import View
from ..markup import render
from ..plain_text import render_grid, spell_out
from ..source_views import transcript
from ..transcript_page import ENDS
from . import INTERRUPTED, make_widget

HEADINGS = ("choice", "starts with", "can be", "used when")
EVERY = "every run"
ASK = "This call will be a"


def _choice_text(model: Choice) -> str:
    hung = (spell_out(choice).replace("\n", "\n     ") for choice in model.choices)
    numbered = [f"  {n}. {words}" for n, words in enumerate(hung, 1)]
    closing = "Decide first. Then `predict.reveal()` shows what happened."
    return "\n".join([spell_out(model.question), *numbered, closing])


def _choice_html(model: Choice) -> str:
    return render("choice.html", model=model)


def _choice_widget(model: Choice):
    state = {"question": spell_out(model.question), "choices": list(map(spell_out, model.choices))}
    state |= {"answer": model.choices.index(model.answer), "why": spell_out(model.why)}
    state |= {"verb": "raised" if model.raised else "gave", "picked": -1}
    state |= {"checked": False, "skipped": False, "keeps": False}
    state |= {"press": "", "told": {}, "own": ""}
    says = f"{state['question']!r}, {len(model.choices)} choices"
    return make_widget("choice", "form", says, state)


def _sandbox_text(model: Sandbox) -> str:
    rows, guesses = _tell(model)
    parts = model.title, render_grid(HEADINGS, rows), model.note, guesses, f"In code: {model.code}"
    return "\n".join(parts)


def _sandbox_html(model: Sandbox) -> str:
    rows, guesses = _tell(model)
    return render("sandbox.html", model=model, headings=HEADINGS, rows=rows, guesses=guesses)


def _tell(model: Sandbox) -> tuple[list[tuple[str, ...]], str]:
    """Return a row for each control, and what there is to predict."""
    rows, (*most, last) = [], model.verdicts
    for c in model.controls:
        matters = f"{c.of}: {', '.join(c.matters)}" if c.of else EVERY
        rows.append((c.name, c.first, "; ".join(c.options), matters))
    words = f"{', '.join(most)} or {last}" if most else last
    return rows, f"To predict: {ASK[:1].lower()}{ASK[1:]} {words}."


def sandbox_widget(model: Sandbox, show: Callable[[dict], str], run: Callable[[dict, str], dict]):
    """Return an anywidget; `run(picked, guess)` returns `says`, `right` and `rows`."""
    controls = [[c.name, list(c.options), c.of, list(c.matters)] for c in model.controls]
    state = {"title": model.title, "note": model.note, "controls": controls, "answer": {}}
    state |= {"verdicts": list(model.verdicts), "picked": model.start()}
    state |= {"ask": ASK, "call": show(model.start()), "own": ""}
    says = f"{model.title!r}, {len(model.controls)} choices"
    made = make_widget("sandbox", "form sandbox", says, state)

    def on_message(_, content, buffers):
        picked, press = content.get("picked", made.picked), content.get("press", "")
        if press and press == made.answer.get("press"):
            return  # pressed again before it was answered
        try:
            answer = run(picked, content.get("guess", ""))
        except KeyboardInterrupt:
            answer = {"says": INTERRUPTED, "stopped": True, "rows": ""}
        made.answer = {**answer, "of": picked, "call": show(picked), "press": press}

    made.observe(lambda change: setattr(made, "call", show(change["new"])), "picked")
    made.on_msg(on_message)
    return made


def rerun_widget(model: Transcripts, run: Callable[[str, str], Transcript]):
    """Return an anywidget that has the kernel run transcripts again by `run(label, source)`."""
    state = {"title": spell_out(model.title), "note": spell_out(model.note), "answer": {}}
    state["labels"] = [spell_out(one.label) for one in model.runs]
    state["sources"] = [one.source for one in model.runs]
    state["own"] = ""
    says = f"{state['title']!r}, {len(model.runs)} switches"
    made = make_widget("rerun", "form rerun", says, state)

    def on_message(_, content, buffers):
        label = str(content.get("label", ""))
        try:
            shown = answer_of(run(label, str(content.get("source", ""))))
        except KeyboardInterrupt:
            shown = {"says": INTERRUPTED, "shown": ""}
        made.answer = {**shown, "number": made.answer.get("number", 0) + 1, "of": label}

    made.on_msg(on_message)
    return made


def answer_of(run: Transcript) -> dict:
    """Return what the page shows of a run: `says` (its end in words) and `shown` (safe HTML)."""
    bare = Transcript("", "", run.printed, run.error, run.code)
    shown = transcript.html(Transcripts("", (bare,)))
    return {"says": f"{ENDS[run.end]} {run.ending}", "shown": shown}


choice = View(_choice_text, _choice_html, _choice_widget)
sandbox = View(_sandbox_text, _sandbox_html, sandbox_widget)
