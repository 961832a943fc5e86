"""How a learner's parts of the mini-Dynamo are judged: each runs in the finished one.

Torch is imported when a step is judged, not before.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps

from helpers.capture.text.error import said
from helpers.capture.text.label import type_name
from helpers.capture.text.value import brief
from helpers.study.check import Unfit, Untried, tried


def _differs(fn, calls, parts, graph=True) -> str:
    """Return how `fn`, compiled with the learner's part, parts from eager torch, if it does."""
    from helpers.study.chapter_4 import programs

    try:
        words = programs.differs(fn, calls, parts, graph)
    except (Untried, Unfit):
        raise
    except Exception as error:
        words = f"{programs.shown(fn, calls[0])} raised {said(error)}"
    return words and f"{words}. Here {fn.__name__} is: {programs.body(fn)}"


def _function(judge: Callable) -> Callable:
    """Let a judge see only functions."""

    @wraps(judge)
    def checked(answer):
        if not callable(answer):
            return f"give the function itself, not {type(answer).__name__}"
        return judge(answer)

    return checked


@_function
def judge_binary_op(answer):
    """Judge step 1: what is computed now, and what goes into the graph."""
    from helpers.mini.dynamo import PARTS
    from helpers.study.chapter_4 import programs

    parts = replace(PARTS, binary_op=lambda *args: _symbolic(tried(answer(*args))))
    x, y = programs.numbers()
    calls = [
        (programs.minus, (x, y)),
        (programs.folded, (x, 5)),
        (programs.under, (x, 2)),
        (programs.toy, (x, y)),
    ]
    return _first(_differs(fn, [args], parts) for fn, args in calls)


def _symbolic(result):
    """Return what binary_op gave, if it is symbolic."""
    from helpers.mini.dynamo import symbolic_values

    if isinstance(result, (symbolic_values.Known, symbolic_values.Tensor, symbolic_values.Items)):
        return result
    if isinstance(result, (int, float)):
        shown = f"{brief(result)} ({type_name(result)})"
        raise Unfit(f"binary_op returned {shown}: wrap it in Known")
    raise Unfit(f"binary_op returned {brief(result)}: return a Known, or what trace.record gives")


def _first(verdicts) -> str | None:
    return next((words for words in verdicts if words), None)


def judge_recorder(answer):
    """Judge step 2: the recorder's graph holds the calls that the finished one's holds."""
    from helpers.mini.dynamo import PARTS
    from helpers.study.chapter_4 import programs

    if not isinstance(answer, type):
        return "give the class itself: check.dynamo_recorder(Recorder)"

    class Tried(answer):
        def input(self, source):
            node = _node("input", tried(super().input(source)))
            inputs = getattr(self, "inputs", None)
            if not isinstance(inputs, dict) or inputs.get(source) is not node:
                raise Unfit("input must keep its node: self.inputs[source] = node")
            return node

        def call(self, *args):
            return _node("call", tried(super().call(*args)))

    x, y = programs.numbers()
    calls = [
        (fn, (x, y)) for fn in (programs.minus, programs.toy, programs.keywords, programs.joined)
    ]
    return _first(_differs(fn, [args], replace(PARTS, recorder=Tried)) for fn, args in calls)


def _node(method: str, result):
    from helpers.study.chapter_4 import programs

    if isinstance(result, programs.fx.Node):
        return result
    raise Unfit(f"{method} must return the node that it made, not {brief(result)}")


@_function
def judge_guards(answer):
    """Judge step 3: true of their value, no more than is needed, and false where it matters."""
    from helpers.mini import dynamo
    from helpers.study.chapter_4 import programs

    def checked(source, value):
        return _true_texts(tried(answer(source, value)), source, value)

    parts = replace(dynamo.PARTS, guards=checked)
    x, _ = programs.numbers()
    same = dynamo.compile(programs.by_shape, parts=parts)
    for values in (x, x + 1):
        same(values)
    if len(same.entries) != 1:
        return (
            f"another tensor of the same kind compiles again, because of the guard "
            f"{same.misses[0]!r}; guard what decides the graph, not the numbers or the object"
        )
    for fn, calls in programs.changes():
        if because := _differs(fn, calls, parts, graph=False):
            return f"{because}. So after {programs.shown(fn, calls[0])} a guard has to fail"
    return None


def _true_texts(texts, source: str, value) -> list[str]:
    """Return the guards that were written for a value, if they are texts and true of it."""
    from helpers.mini.dynamo.output_graph import ALWAYS
    from helpers.study.chapter_4 import programs

    if not _are_texts(texts):
        raise Unfit(f"guards must return a list of texts, not {brief(texts)}")
    for text in texts:
        try:
            holds = bool(eval(text, {**ALWAYS, source: value}))
        except Exception as error:
            known = _known(error, source, value)
            raise Unfit(f"your guard {text!r} raised {said(error)}{known}") from None
        if not holds:
            raise Unfit(
                f"your guard {text!r} is not even true of {source} = {programs.told(value)}"
            )
    return list(texts)


def _known(error: Exception, source: str, value) -> str:
    if not isinstance(error, NameError):
        return ""
    instead = f"; write '{source} is None'" if value is None else ""
    return f": only torch, usual and the builtins are known there{instead}"


def _are_texts(texts) -> bool:
    return isinstance(texts, (list, tuple)) and all(isinstance(text, str) for text in texts)


@_function
def judge_lookup(answer):
    """Judge step 4: the finished one finds the same, and the same guards fail first."""
    from helpers.mini import dynamo
    from helpers.study.chapter_4 import programs

    x, _ = programs.numbers()
    calls = [(x, 1), (x, 2), (x.double(), 1), (x, 2.0)]
    compiled = dynamo.compile(programs.scaled)
    for args in calls:
        compiled(*args)
    entries = compiled.entries
    for asked in (entries, entries[:1], []):
        for args in (*calls, (x[:1], 1), (x, True), (x, None)):
            want, misses = dynamo.PARTS.lookup(asked, args)
            got = tried(answer(list(asked), args))
            if because := _other_find(got, want, misses, asked):
                return (
                    f"with {len(asked)} entries, {programs.shown(programs.scaled, args)}: {because}"
                )
    return None


def _other_find(got, want, misses, entries) -> str | None:
    if not isinstance(got, tuple) or len(got) != 2:
        return "return a pair: the entry or None, and the list of texts"
    entry, texts = got
    if not _are_texts(texts):
        return "misses must be a list of texts: append guard.text, not the guard"
    if entry is not want:
        return f"{_which(want, entries)} fits, and yours found {_which(entry, entries)}"
    if list(texts) != misses:
        return f"the first failing guards are {misses}, and yours are {list(texts)}"
    return None


def _which(entry, entries) -> str:
    if entry is None:
        return "no entry"
    known = [other is entry for other in entries]
    return f"entry {known.index(True)}" if any(known) else "no entry of this list"


@_function
def judge_receives(answer):
    """Judge step 5: the names that the rest of a function can still read."""
    from helpers.mini import dynamo
    from helpers.study.chapter_4 import programs

    for fn in (programs.branch, programs.stored_again, programs.looped, programs.one_way):
        code = dynamo.Code(fn.__code__)
        starts = [i for i, s in enumerate(code.steps) if s.opname == "STORE_FAST" or s.target > i]
        for start in (at + 1 for at in starts):
            bound = [n for n in fn.__code__.co_varnames if _bound_before(code, n, start)]
            want = dynamo.PARTS.receives(code, start, bound)
            got = tried(answer(code, start, list(bound)))
            if because := _other_names(got, want):
                return f"the rest of {fn.__name__} from line {code.steps[start].line}: {because}"
    args, parts = programs.numbers(), replace(dynamo.PARTS, receives=answer)
    got = dynamo.compile(programs.branch, parts=parts)(*args)
    alike = programs.same(got, programs.branch(*args))
    return None if alike else f"{programs.shown(programs.branch, args)} differs from eager torch"


def _bound_before(code, name, start) -> bool:
    arguments = code.code.co_varnames[: code.code.co_argcount]
    return name in arguments or any(name in code.stores(at) for at in range(start))


def _other_names(got, want) -> str | None:
    if not isinstance(got, (list, tuple)):
        return f"return a list of names, not {type(got).__name__}"
    if missing := [name for name in want if name not in got]:
        return f"{missing[0]} can still be read, and yours does not hand it over"
    if extra := [name for name in got if name not in want]:
        return f"yours hands over {extra[0]}, which nothing reads any more before it is stored"
    return None if list(got) == list(want) else f"keep the order of bound: {list(want)}"
