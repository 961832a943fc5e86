"""Step 5 of the mini-Dynamo: the names that the rest of a function can still read.

Asked from every position of small functions, and then run in the finished Dynamo.
"""

from collections.abc import Mapping
from dataclasses import replace

from helpers.capture.text.value import brief
from helpers.model.phrase import stop
from helpers.study.answers import in_order
from helpers.study.chapter_4 import flows
from helpers.study.chapter_4.forms import called, function
from helpers.study.check import Unfit, tried
from helpers.study.two_answers import parted, within

MOST = 100


def judge_receives(answer):
    """Judge step 5 on branches and loops, each from all of its positions."""
    from helpers.mini import dynamo
    from helpers.study.chapter_4 import programs, trial

    function(answer, "receives", "code, start, bound")
    for fn in flows.ALL:
        if because := _from_everywhere(answer, fn):
            return within("", because, f"{stop(because)} Here {fn.__name__} is: {trial.body(fn)}")
    parts = replace(dynamo.PARTS, receives=answer)
    x, y = programs.numbers()
    calls = [(x, y), (x, -y)]
    return trial.parts_from(programs.branch, calls, parts, graph=False)


def _from_everywhere(answer, fn) -> str | None:
    from helpers.mini import dynamo

    finished, given = (dynamo.Code(fn.__code__) for _ in range(2))
    for turn, start in enumerate(_starts(finished)):
        names = [n for n in fn.__code__.co_varnames if _bound_before(finished, n, start)]
        bound = (names, names[::-1], names[1:])[turn % 3]
        want = dynamo.PARTS.receives(finished, start, bound)
        line, kind = finished.steps[start].line, finished.steps[start].opname
        words = f"{fn.__name__} from line {line} on ({kind} at {start}), bound = {bound}"
        got = _names(tried(called(answer, words, given, start, list(bound))))
        if because := _other_names(got, want):
            return within(f"{words}: ", because)
        if given.steps != finished.steps:
            return f"{words}: yours changes code.steps; only look at them"
    return None


def _starts(code) -> list[int]:
    """Return where a rest may begin: at the start, after each store, at each end of a jump."""
    after = {at + 1 for at, step in enumerate(code.steps) if code.stores(at) or step.target >= 0}
    reached = {step.target for step in code.steps}
    return sorted(at for at in {0, *after, *reached} if 0 <= at < len(code.steps))


def _bound_before(code, name, start) -> bool:
    arguments = code.code.co_varnames[: code.code.co_argcount]
    return name in arguments or any(name in code.stores(at) for at in range(start))


def _names(got) -> list:
    if isinstance(got, (set, frozenset, Mapping)) or got is None:
        raise Unfit(
            f"receives must return a list of names, in the order of bound, not {brief(got)}"
        )
    return in_order(got, MOST, "what receives returns")


def _other_names(got: list, want: list) -> str | None:
    if got == want:
        return None
    why = "keep the order of bound, each name once"
    if missing := [name for name in want if name not in got]:
        why = f"{missing[0]} can still be read, and yours does not hand it over"
    elif extra := [name for name in got if name not in want]:
        why = f"yours hands over {extra[0]}, which nothing reads any more before it is stored"
    return parted(f"{why}: ", f"gives {got}", f"gives {want}", "the finished one")
