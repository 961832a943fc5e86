"""Step 5 of the mini-Dynamo: the names that the rest of a function can still read.

Asked from every position of small functions, which are looked at, and never run.
"""

# ruff: noqa: B007, D103, F841 - the programs say what they are by their names

import inspect
from collections.abc import Callable, Mapping

from helpers.capture.text.value import brief
from helpers.study.engine import Case, Exercise, Unfit, find_difference, in_order, parted, tried

MOST = 100


def stored_on_one_way(a, x, y):
    if a:
        x = y
    return x


def stored_in_a_loop(items, found, other):
    for item in items:
        if item:
            found = other
        other = item
    return found


def nested(items, p, q):
    for a in items:
        last = p
        for b in items:
            last = q
            for c in items:
                last = c
    return a


def for_ever(a, b):
    while True:
        if a > 9:
            return a
        a = a + b


PROGRAMS = stored_on_one_way, stored_in_a_loop, nested, for_ever


def _judge(receives: Callable):
    from helpers.mini.dynamo import PARTS

    cases = (case for fn in PROGRAMS for case in _cases(fn))
    return find_difference(receives, PARTS.receives, cases, "the finished one")


def _cases(fn: Callable):
    """Yield a case per position after a store or a jump, with the names that are bound there."""
    from helpers.mini.dynamo import Code

    code = Code(fn.__code__)
    after = {at + 1 for at, step in enumerate(code.steps) if code.stores(at) or step.target >= 0}
    starts = {0, *after, *(step.target for step in code.steps)}
    arguments = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    for turn, start in enumerate(sorted(at for at in starts if 0 <= at < len(code.steps))):
        stored = set(arguments).union(*(code.stores(at) for at in range(start)))
        names = [name for name in fn.__code__.co_varnames if name in stored]
        bound = (names, names[::-1], names[1:])[turn % 3]
        step = code.steps[start]
        place = f"line {step.line} on ({step.opname} at {start}), bound = {bound}"
        yield Case(f"{fn.__name__} from {place}", _run(fn, start, bound), _advice(fn))


def _run(fn: Callable, start: int, bound: list) -> Callable:
    from helpers.mini.dynamo import Code

    def run(receives):
        code = Code(fn.__code__)
        names = tried(receives(code, start, list(bound)))
        if isinstance(names, set | frozenset | Mapping) or names is None:
            words = "a list of names, in the order of bound"
            raise Unfit(f"receives must return {words}, not {brief(names)}")
        return in_order(names, MOST, "what receives returns")

    return run


def _advice(fn: Callable) -> Callable:
    def advice(mine, real):
        if not isinstance(mine, list):
            return None
        why = "keep the order of bound, each name once"
        if missing := [name for name in real if name not in mine]:
            why = f"{missing[0]} can still be read, and yours does not hand it over"
        elif extra := [name for name in mine if name not in real]:
            why = f"yours hands over {extra[0]}, which nothing reads any more before it is stored"
        lines = inspect.getsource(fn).splitlines()[1:]
        body = "; ".join(map(str.strip, lines)).replace(":;", ":")
        who = "the finished one"
        return parted(f"{why}: ", f"gives {mine}", f"gives {real}", who, f". The lines are: {body}")

    return advice


DYNAMO_RECEIVES = Exercise(
    "dynamo_receives",
    _judge,
    "The rest of each function receives what it can still read, and nothing else.",
    (
        "Which names does the rest of the function read before it stores them itself?",
        "Go backwards. Before a step, live is (live after it - what it stores) | what it reads.",
        "Start with an empty set per step. code.after(at) gives no, one or two positions: "
        "unite their sets. A loop jumps back, so go through all steps again until nothing "
        "changes. Then keep the names of bound that are in live[start].",
    ),
)
