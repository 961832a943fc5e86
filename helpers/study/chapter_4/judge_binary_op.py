"""Step 1 of the mini-Dynamo: what is computed now, and what goes into the graph.

Each operator is asked for by itself first; then the part runs in the finished Dynamo.
"""

from contextlib import suppress
from dataclasses import replace

from helpers.capture.text.error import said
from helpers.capture.text.value import brief, type_name
from helpers.study.chapter_4.forms import called, function
from helpers.study.check import Unfit, tried
from helpers.study.two_answers import parted

# Numbers for which no two operators, and no two orders, give the same.
KNOWN = ((7, 3), (1, 0), (2, 5), (-9, 4), (2.5, -0.5), (True, 6), ("ab", "a"), (0.0, -3.0))


def judge_binary_op(answer):
    """Judge step 1 on every operator, then on programs."""
    from helpers.mini.dynamo import PARTS
    from helpers.study.chapter_4 import programs, trial

    function(answer, "binary_op", "trace, sign, left, right")
    if because := _alone(answer):
        return because
    parts = replace(PARTS, binary_op=lambda *args: _symbolic(tried(answer(*args))))
    x, y = programs.numbers()
    calls = [
        *((programs.minus, (x, y)), (programs.folded, (x, 5)), (programs.folded, (x, 0))),
        *((programs.under, (x, 2)), (programs.toy, (x, y)), (programs.twice_read, (x, 4))),
    ]
    return trial.first(trial.parts_from(fn, [args], parts) for fn, args in calls)


def _alone(answer) -> str | None:
    from helpers.mini.dynamo import OPERATORS, Known, Tensor

    for sign in OPERATORS:
        for pair in KNOWN:
            if because := _known(answer, sign, *pair):
                return because
        tensor, number = Tensor(None, None), Known(3)
        for left, right in ((tensor, number), (number, tensor), (tensor, Tensor(None, None))):
            if because := _recorded(answer, sign, left, right):
                return because
    return None


class _Trace:
    """Stands in for the trace: keeps what is recorded."""

    def __init__(self):
        self.calls = []

    def record(self, fn, *args, **kwargs):
        """Return a symbolic tensor for a call."""
        from helpers.mini.dynamo import Tensor

        self.calls.append((fn, args, kwargs, Tensor(None, None)))
        return self.calls[-1][-1]


def _known(answer, sign: str, left, right) -> str | None:
    """Say how yours parts from Python where both sides are known, if it does."""
    from helpers.mini.dynamo import OPERATORS, Known

    operands, trace = (Known(left), Known(right)), _Trace()
    words = f"{left!r} {sign} {right!r}, both known"
    try:
        want = OPERATORS[sign](left, right)
    except Exception as error:
        with suppress(Exception):
            answer(trace, sign, *operands)
            return f"{words}: Python raises {said(error)}; let the error through, record nothing"
        return None
    got = _symbolic(tried(called(answer, words, trace, sign, *operands)))
    if trace.calls or not isinstance(got, Known):
        return f"{words}: compute it now; yours puts the call into the graph"
    if (operands[0].value, operands[1].value) != (left, right) or any(got is o for o in operands):
        return f"{words}: yours changes an operand, which may be read again; make a new Known"
    if type(got.value) is not type(want) or repr(got.value) != repr(want):
        gives = f"gives {_told(got.value)}", f"gives {_told(want)}"
        return parted(f"{words}: ", *gives, "Python")
    return None


def _recorded(answer, sign: str, left, right) -> str | None:
    """Say what is wrong with what yours records where a side is a tensor, if anything."""
    from helpers.mini.dynamo import OPERATORS, Known

    shown = [repr(side.value) if isinstance(side, Known) else "a tensor" for side in (left, right)]
    words, trace = f"{shown[0]} {sign} {shown[1]}", _Trace()
    got = _symbolic(tried(called(answer, words, trace, sign, left, right)))
    if len(trace.calls) != 1:
        return f"{words}: record one call; yours records {len(trace.calls)}"
    fn, args, kwargs, made = trace.calls[0]
    if fn is not OPERATORS[sign]:
        return f"{words}: the call to record is OPERATORS[sign], not {brief(fn)}"
    if len(args) == 2 and args[0] is right and args[1] is left:
        return f"{words}: yours records {shown[1]} {sign} {shown[0]}; left comes first"
    if kwargs or len(args) != 2 or args[0] is not left or args[1] is not right:
        return f"{words}: record it with left and right, as they are given"
    return None if got is made else f"{words}: return what trace.record gives"


def _symbolic(result):
    """Return what binary_op gave, if it is symbolic."""
    from helpers.mini.dynamo import symbolic_values

    if isinstance(result, (symbolic_values.Known, symbolic_values.Tensor, symbolic_values.Items)):
        return result
    if isinstance(result, (int, float, str)):
        raise Unfit(f"binary_op returned {_told(result)}: wrap it in Known")
    raise Unfit(f"binary_op returned {brief(result)}: return a Known, or what trace.record gives")


def _told(value) -> str:
    return f"{brief(value)} ({type_name(value)})"
