"""Step 3 of the mini-Dynamo: guards that are true of their value, no more than is needed.

And false where the graph would be wrong: that, programs show.
"""

from dataclasses import replace

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.model.phrase import ended
from helpers.study.answers import in_order
from helpers.study.chapter_4.forms import called, function
from helpers.study.check import Unfit, tried

MOST = 100  # texts for one value


def judge_guards(answer):
    """Judge step 3 on values by themselves, then on programs."""
    from helpers.mini import dynamo
    from helpers.study.chapter_4 import guard_programs, trial

    function(answer, "guards", "source, value")
    for value, others in guard_programs.alike():
        for source, space in (("k", _bare), ("pair[1]", _in_pair)):
            before = getattr(value, "_version", None)
            texts = _texts(answer, source, value)
            if getattr(value, "_version", None) != before:
                return "yours changes the tensor that it writes guards for; only look at it"
            _hold(texts, source, space, value, f"{source} = {trial.told(value)}")
            for other in others:
                _hold_as_well(texts, source, space, value, other)
    parts = replace(dynamo.PARTS, guards=lambda *args: _texts(answer, *args))
    for fn, calls in guard_programs.changes():
        if because := trial.parts_from(fn, calls, parts, graph=False):
            return f"{ended(because)} So after {trial.shown(fn, calls[0])} a guard has to fail"
    return None


def _bare(value) -> dict:
    return {"k": value}


def _in_pair(value) -> dict:
    return {"pair": (None, value)}


def _texts(answer, source: str, value) -> list[str]:
    """Return the guards that were written for a value, if they are texts."""
    from helpers.study.chapter_4 import trial

    words = f"guards({source!r}, {trial.told(value)})"
    texts = tried(called(answer, words, source, value))
    if texts is None or isinstance(texts, str):
        raise Unfit(f"guards must return a list of texts, not {brief(texts)}")
    listed = in_order(texts, MOST, "what guards returns")
    for text in listed:
        tried(text, "a guard in the list")
    if not all(isinstance(text, str) for text in listed):
        raise Unfit(f"guards must return a list of texts, not {brief(texts)}")
    return listed


def _hold(texts, source: str, space, value, words: str) -> None:
    """Raise Unfit if a text is not true of the value that it was written for."""
    for text in texts:
        try:
            holds = bool(_asked(text, space(value)))
        except Exception as error:
            known = _known(error, source, value)
            raise Unfit(f"for {words}, your guard {text!r} raised {said(error)}{known}") from None
        if not holds:
            raise Unfit(f"your guard {text!r} is not even true of {words}")


def _hold_as_well(texts, source: str, space, value, other) -> None:
    """Raise Unfit if a text is true of a value, and not of another one that is just like it."""
    from helpers.study.chapter_4 import trial

    for text in texts:
        try:
            holds = bool(_asked(text, space(other)))
        except Exception:
            holds = False
        if not holds:
            raise Unfit(
                f"your guard {text!r} holds for {source} = {trial.told(value)}, and not for "
                f"another {source} = {trial.told(other)}: it compiles again for nothing. Guard "
                "what decides the graph, not a tensor's numbers, and not which object it is"
            )


def _asked(text: str, space: dict):
    """Return what a guard says where the names of `space` are bound."""
    from helpers.mini.dynamo.builder import ALWAYS

    return eval(text, {**ALWAYS, **space})


def _known(error: Exception, source: str, value) -> str:
    if not isinstance(error, NameError):
        return ""
    instead = f"; write '{source} is None'" if value is None else ""
    return f": only {source}, torch, usual and the builtins are known there{instead}"
