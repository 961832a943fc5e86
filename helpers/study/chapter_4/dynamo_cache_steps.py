"""Judge three functions of a small Dynamo that a learner writes: guards, lookup, receives.

`guards(source, value)` writes the guards for a value: texts of Python that must be true for a later
call to use the same graph. `lookup(cache, args)` finds the cache entry whose guards hold for a
call. `receives(code, start, bound)` lists the variables that the rest of a function still needs
after a graph break. An answer is compared with the finished function of `helpers.mini.dynamo`.
"""

# ruff: noqa: D103 - the name of step 5's program says what it is

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

from helpers.capture.text.value import short_repr
from helpers.mini import dynamo
from helpers.study.answers import InvalidAnswer, require_items, require_no_stub
from helpers.study.chapter_4.dynamo_trace_steps import FINISHED, find_part_difference
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, make_cases
from helpers.study.frameworks import torch
from helpers.study.sentences import Mismatch, describe_difference

HOLD = "all guards hold"
FAIL = "a guard fails"
TOO_STRICT = (
    "Dynamo compiles again for nothing. Guard what decides the graph, not a tensor's numbers or "
    "which object it is"
)


@dataclass(frozen=True)
class GuardedPair:
    """The value of an argument in the call that was traced, and its value in a later call."""

    #: The value for which the guards are written.
    value: object
    #: The value in a later call, for which the guards hold or fail.
    other: object
    #: The expression in which the two differ, such as "x.shape". A graph for `value` may be wrong
    #: for `other`, so a guard must fail. "" if one graph is right for both.
    looks_at: str = ""


@exercise(
    "Which properties of a tensor may the function have looked at during the trace?",
    "Guard a tensor's type, dtype, shape and requires_grad, and a number's type and value.",
    "1 == 1.0 == True, and 0.0 == -0.0. Guard type(k) to distinguish the first three, and "
    "k.hex() for the other two.",
)
def dynamo_guards(guards: Callable):
    """A guard fails if the graph would be wrong, and none fails for other numbers in a tensor."""
    cases = []
    for pair in _make_guarded_pairs():
        # What it means if the learner's guards hold where the finished ones fail, or the opposite.
        meaning = TOO_STRICT
        if pair.looks_at:
            meaning = f"a function may look at {pair.looks_at}, so the graph would be wrong"
        # A guarded value is an argument, or an item of an argument.
        for source in ("k", "pair[1]"):
            shows = f"{source} = {pair.value!r}, and then {source} = {pair.other!r}"
            run = partial(_hold_for_other, source, pair)
            cases.append(JudgedCase(shows, run, partial(_advise_on_guards, meaning)))
    return find_part_difference(guards, "guards", cases)


def _advise_on_guards(meaning: str, mine, real) -> Mismatch | None:
    """Return the sentence on two different verdicts, with what the difference means for this pair.

    `mine` and `real` are HOLD or FAIL, of the learner's guards and of the finished ones. If the
    learner's function raised, `mine` is a Raised, which says enough, and the result is None.
    """
    if not isinstance(mine, str):
        return None
    return describe_difference("", f"gives {mine!r}", f"gives {real!r}", FINISHED, f"; {meaning}")


def _hold_for_other(source: str, pair: GuardedPair, guards: Callable) -> str:
    """Have an answer write guards on `pair.value`; return HOLD or FAIL for `pair.other`.

    `source` is the expression by which a guard reads the value, "k" or "pair[1]". InvalidAnswer if
    a guard is no text, or is false even for `pair.value`. `require_no_stub` raises if the learner
    has not written the function yet.
    """
    texts = require_items(require_no_stub(guards(source, pair.value)), 100, "what guards returns")
    for text in texts:
        if not isinstance(require_no_stub(text, "the list"), str):
            raise InvalidAnswer(f"guards must return a list of str, not {short_repr(texts)}")
        if not _evaluate_guard(text, pair.value):
            raise InvalidAnswer(f"your guard {text!r} is false even for {source} = {pair.value!r}")

    try:
        holds = all(_evaluate_guard(text, pair.other) for text in texts)
    except Exception:  # the other value may lack an attribute that a guard reads
        return FAIL
    return HOLD if holds else FAIL


def _evaluate_guard(text: str, value):
    """Evaluate a guard, which is Python text about `k` or `pair[1]`, for this value."""
    from helpers.mini.dynamo.builder import ALWAYS  # the names that each guard may use

    return eval(text, {**ALWAYS, "k": value, "pair": (None, value)})


def _make_guarded_pairs() -> Iterator[GuardedPair]:
    """Yield pairs of values. Each of them tests one rule of which properties guards must check."""
    x = torch.tensor([1.0, -2.0, 4.0])
    with_slope = x.clone().requires_grad_()
    yield from _make_equivalent_pairs(x, with_slope)
    yield GuardedPair(x.long(), x, "x.dtype")
    yield from _make_shape_pairs(x)
    yield GuardedPair(x, with_slope, "x.requires_grad")
    yield GuardedPair(with_slope, x, "x.requires_grad")
    derived_tensor = x.as_subclass(type("DerivedTensor", (torch.Tensor,), {}))
    yield GuardedPair(x, derived_tensor, "type(x)")
    yield from _make_scalar_pairs()


def _make_equivalent_pairs(x, with_slope) -> Iterator[GuardedPair]:
    """Yield pairs of different objects for which one graph is right, so that no guard may fail."""
    yield GuardedPair(x, x + 1)
    yield GuardedPair(x, x * math.nan)
    yield GuardedPair(with_slope, (x + 1).requires_grad_())
    yield GuardedPair(True, True)
    yield GuardedPair(None, None)
    yield GuardedPair(1000, int("1000"))
    yield GuardedPair(-2.5, float("-2.5"))
    yield GuardedPair(-math.inf, float("-inf"))
    yield GuardedPair(math.nan, float("nan"))
    yield GuardedPair("it's", "".join(["it", "'s"]))
    yield GuardedPair('a "\n\\', 'a "\n\\')


def _make_shape_pairs(x) -> Iterator[GuardedPair]:
    """Yield pairs of tensors that differ only in their shape."""
    square = torch.arange(6.0).reshape(2, 3)
    cube = square.reshape(1, 2, 3)
    yield GuardedPair(x, x[:2].contiguous(), "x.shape")
    yield GuardedPair(square, square.reshape(3, 2).contiguous(), "x.shape")
    yield GuardedPair(cube, cube.mT.contiguous(), "x.shape")


def _make_scalar_pairs() -> Iterator[GuardedPair]:
    """Yield pairs of numbers and texts that differ in value or type, so that a guard must fail.

    Some of them are equal by `==`, such as 1 and 1.0.
    """
    yield GuardedPair(2, 3, "k")
    yield GuardedPair(0.1, 0.1 + 2e-17, "k")
    yield GuardedPair(math.inf, -math.inf, "k")
    yield GuardedPair("sum", "mean", "k")
    yield GuardedPair(None, 1, "k")
    yield GuardedPair(0.0, -0.0, "1 / k")
    yield GuardedPair(math.inf, math.nan, "1 / k")
    yield GuardedPair(1, 1.0, "type(k)")
    yield GuardedPair(True, 1.0, "type(k)")
    yield GuardedPair(True, 1, "type(k)")
    yield GuardedPair(0, False, "type(k)")
    yield GuardedPair(1.0, 1, "type(k)")
    yield GuardedPair(0.5, type("DerivedFloat", (float,), {})(0.5), "type(k)")
    yield GuardedPair(2, type("DerivedInt", (int,), {})(2), "type(k)")


ADVICE_FOR_LOOKUP = (
    "return the first entry that fits, or None, and for each before it the first guard that fails"
)


def _make_entry(k: int):
    """Return a cache entry for calls with this k, with a guard on its value and one on its type."""
    from helpers.mini.dynamo.convert_frame import Entry, compile_guards

    texts = [f"k == {k}", "type(k) is int"]
    # The order differs between entries, so an answer must report the first guard that fails.
    if k % 2 == 0:
        texts.reverse()
    guards, accepts = compile_guards(texts, ("x", "k"), {})
    return Entry(guards, accepts, lambda x, k: x * k)


@exercise(
    "For each entry, find the first guard that does not hold.",
    "guard.holds(values) tests a guard. Report guard.text, in the order of the entries.",
    "next((g for g in entry.guards if not g.holds(values)), None) is the first failing "
    "guard. None means that the entry fits, so return it at once.",
)
def dynamo_lookup(lookup: Callable):
    """You find the same entries as the finished one, and report the same failing guards."""
    entries = [_make_entry(k) for k in (1, 2, 3)]
    # In the last cache, two entries fit each call, and the first of them is right.
    caches = ([], entries, [*entries[::-1], *entries])
    rows = []  # (text, arguments of `_look_up`); no entry fits 3.0, which is not an int
    for cache, k in product(caches, (1, 2, 3.0)):
        rows.append((f"with {len(cache)} in the cache, for k = {k}", cache, (0.5, k)))
    cases = make_cases(_look_up, rows, ADVICE_FOR_LOOKUP)
    return find_part_difference(lookup, "lookup", cases)


def _look_up(cache: list, args: tuple, lookup: Callable):
    """Call an answer's `lookup(cache, args)`, which returns a pair (entry, misses).

    Return {"entry": its position in the cache, "misses": the texts of the failing guards}, or a
    text if the answer returns no pair.
    """
    pair = require_no_stub(lookup(list(cache), args))
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        return f"{short_repr(pair)}, which is not a pair"

    entry = require_no_stub(pair[0], "the entry")
    misses = require_no_stub(pair[1], "misses")
    if isinstance(misses, tuple | list):
        misses = [text if isinstance(text, str) else short_repr(text) for text in misses]
    return {"entry": _find_position(entry, cache), "misses": misses}


def _find_position(entry, cache: list) -> int | str:
    """Return the position of an entry in the cache; if it is not there, the entry as text."""
    for position, cached in enumerate(cache):
        if cached is entry:
            return position
    return short_repr(entry)


HAND_OVER = (
    "return each name of bound that the rest can still read before storing it, and no other; "
    "keep the order of bound"
)


# The check of `dynamo_receives` shows the lines of this function. Its variables are read and stored
# in loops, so which of them the rest needs differs from position to position.
def hand_on(items, found, other, last):
    while True:  # the last step jumps back
        if found:
            return last, items
        for item in items:
            if item:
                found = other
            for other in item:
                last = found + other


@exercise(
    "Which names does the rest of the function read before it stores them?",
    "Go backwards. Before a step, live is (live after it - what it stores) | what it reads.",
    "Start with an empty set per step. code.after(at) returns zero, one or two positions. "
    "Unite their sets. A loop jumps back, so go through all steps again until nothing "
    "changes. Then keep the names of bound that are in live[start].",
)
def dynamo_receives(receives: Callable):
    """From every position, the rest receives the names that it can still read, and no others."""
    # The body of `hand_on` in one line, for the learner.
    body_lines = [line.strip() for line in inspect.getsource(hand_on).splitlines()[1:]]
    body = "; ".join(body_lines).replace(":;", ":")
    rows = []  # (text, argument of `_list_received`)
    for position, step in enumerate(dynamo.Code(hand_on.__code__).steps):
        shows = f"from line {step.line} on ({step.opname} at {position}) of `{body}`"
        rows.append((shows, position))
    cases = make_cases(_list_received, rows, HAND_OVER)
    return find_part_difference(receives, "receives", cases)


def _list_received(position: int, receives: Callable) -> list:
    """Return the names that an answer's `receives` lists for the rest of `hand_on`.

    The rest begins at the instruction with this position.
    """
    bound = list(hand_on.__code__.co_varnames)
    if position % 2:  # another order of names, which the answer must keep
        bound.reverse()
    names = require_no_stub(receives(dynamo.Code(hand_on.__code__), position, bound))
    if not isinstance(names, list | tuple):
        must = "receives must return a list, in the order of bound"
        raise InvalidAnswer(f"{must}, not {short_repr(names)}")
    return list(names)
