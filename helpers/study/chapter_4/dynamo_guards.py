"""Steps 3 and 4 of the mini-Dynamo, guards and the look-up of an entry; and an evicting cache.

Guards must be true of their value, no more than is needed, and false where a graph would be wrong.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial

from helpers.capture.text.error import error_message
from helpers.capture.text.value import short_repr
from helpers.study.check import Exercise, InvalidAnswer, tried
from helpers.study.engine import Case, find_difference, in_order, parts_tried

HOLD, FAIL = "guards that hold", "a guard that fails"
TOO_STRICT = (
    "it compiles again for nothing. Guard what decides the graph, not a tensor's numbers, and not "
    "which object it is"
)


def _judge_guards(guards: Callable):
    from helpers.mini.dynamo import PARTS

    cases = []
    for value, other, looks in _pairs():
        why = f"a function may look at {looks}, and the graph would be wrong" if looks else ""
        for source in ("k", "pair[1]"):
            words = f"{source} = {value!r}, and then {source} = {other!r}"
            run = partial(_hold_for_other, source, value, other)
            cases.append(Case(words, run, why or TOO_STRICT))
    return find_difference(guards, PARTS.guards, cases, "the finished one")


def _hold_for_other(source: str, value, other, guards: Callable) -> str:
    texts = in_order(tried(guards(source, value)), 100, "what guards returns")
    for text in texts:
        if not isinstance(tried(text, "the list"), str):
            raise InvalidAnswer(f"guards must return a list of texts, not {short_repr(texts)}")
        try:
            holds = _ask(text, value)
        except Exception as error:
            instead = "; write 'k is None'" if value is None else ""
            raised = f"your guard {text!r} raised {error_message(error)}{instead}"
            raise InvalidAnswer(f"for {source} = {value!r}, {raised}") from None
        if not holds:
            raise InvalidAnswer(f"your guard {text!r} is not even true of {source} = {value!r}")
    try:
        return HOLD if all(_ask(text, other) for text in texts) else FAIL
    except Exception:  # such as an attribute that the other one does not have
        return FAIL


def _ask(text: str, value):
    from helpers.mini.dynamo.builder import ALWAYS

    return eval(text, {**ALWAYS, "k": value, "pair": (None, value)})


def _pairs() -> Iterator[tuple]:
    """Yield (value, other, what a function may look at): alike for a graph where that is empty."""
    import torch

    x, square, inf = torch.tensor([1.0, -2.0, 4.0]), torch.arange(6.0).reshape(2, 3), math.inf
    slope, cube = x.clone().requires_grad_(), square.reshape(1, 2, 3)
    wider = x.as_subclass(type("DerivedTensor", (torch.Tensor,), {}))
    derived = type("DerivedFloat", (float,), {})(0.5), type("DerivedInt", (int,), {})(2)
    alike = ((x, x + 1), (x, x * math.nan), (slope, (x + 1).requires_grad_()), (True, True))
    alike += ((None, None), (1000, int("1000")), (-2.5, float("-2.5")), (-inf, float("-inf")))
    alike += ((math.nan, float("nan")), ("it's", "".join(["it", "'s"])), ('a "\n\\', 'a "\n\\'))
    yield from ((value, other, "") for value, other in alike)
    yield x.long(), x, "x.dtype"
    for shape, other in ((x, x[:2]), (square, square.reshape(3, 2)), (cube, cube.mT)):
        yield shape, other.contiguous(), "x.shape"
    yield from ((x, slope, "x.requires_grad"), (slope, x, "x.requires_grad"), (x, wider, "type(x)"))
    for one, other in ((2, 3), (0.1, 0.1 + 2e-17), (inf, -inf), ("sum", "mean"), (None, 1)):
        yield one, other, "k"
    yield from ((0.0, -0.0, "1 / k"), (inf, math.nan, "1 / k"))
    same = ((1, 1.0), (True, 1.0), (True, 1), (0, False), (1.0, 1))
    yield from ((*pair, "type(k)") for pair in (*same, (0.5, derived[0]), (2, derived[1])))


DYNAMO_GUARDS = Exercise(
    "dynamo_guards",
    _judge_guards,
    "Whatever would make the graph wrong makes a guard fail, and other numbers do not.",
    (
        "Which properties of a tensor may the function have looked at while it was traced?",
        "A tensor: its type, dtype, shape and requires_grad. A number: its type and its value.",
        "1 == 1.0 == True, and 0.0 == -0.0. type(k) is … tells the first apart, and k.hex() "
        "the second.",
    ),
)

ADVICE_FOR_LOOKUP = (
    "return the first entry that fits, or None, and of each entry before it the text of the first "
    "guard that fails"
)


def _make_entry(k: int):
    """Return an entry for calls with this k; the guard on its type comes first or last."""
    from helpers.mini.dynamo.convert_frame import Entry, guarded

    words = [f"k == {k}", "type(k) is int"]
    guards, accepts = guarded(words if k % 2 else words[::-1], ("x", "k"), {})
    return Entry(guards, accepts, lambda x, k: x * k)


def _judge_lookup(lookup: Callable):
    from helpers.mini.dynamo import PARTS

    entries = [_make_entry(k) for k in (1, 2, 3)]
    cases = [
        Case(
            f"with {len(kept)} in the cache, for k = {k}",
            partial(_look_up, kept, (0.5, k)),
            ADVICE_FOR_LOOKUP,
        )
        for kept in ([], entries, [*entries[::-1], *entries])
        for k in (1, 2, 3.0)
    ]
    return find_difference(lookup, PARTS.lookup, cases, "the finished one")


def _look_up(kept: list, args: tuple, lookup: Callable):
    found = tried(lookup(list(kept), args))
    if not isinstance(found, tuple | list) or len(found) != 2:
        return f"{short_repr(found)}, which is no pair"
    entry, misses = tried(found[0], "the entry"), tried(found[1], "misses")
    place = next((at for at, one in enumerate(kept) if one is entry), short_repr(entry))
    if isinstance(misses, tuple | list):
        misses = [text if isinstance(text, str) else short_repr(text) for text in misses]
    return {"entry": place, "misses": misses}


DYNAMO_LOOKUP = Exercise(
    "dynamo_lookup",
    _judge_lookup,
    "Yours finds the entries that the finished one finds, and the same guards fail first.",
    (
        "Of each entry you need to know one thing: the first guard that does not hold.",
        "guard.holds(values) tells, guard.text is what to report, in the order of the entries.",
        "next((g for g in entry.guards if not g.holds(values)), None) is the first failing "
        "guard. None means that the entry fits: return it at once.",
    ),
)

SEQUENCES = (  # (limit, the values of k of each call; an entry fits no float)
    *((2, (1, 1, 2, 2)), (1, (1, 2, 2, 1)), (2, (1, 2, 1, 3, 1, 2)), (2, (1, 2, 3, 3, 3.0))),
    (3, (1, 1.0, 2, 3, 3, 3, 4, 2, 1, 3, 4, 5, 2)),
)
ADVICE_FOR_CACHE = (
    "a hit moves its entry to the front, and a new one goes there; the last ones are dropped; make "
    "the list of entries in __init__, or two caches share it"
)


class _Reference:
    def __init__(self, limit):
        self.limit, self.entries = limit, []

    def find(self, values):
        found = [e for e in self.entries if all(guard.holds(values) for guard in e.guards)]
        self.entries.sort(key=lambda entry: entry not in found)
        return found[0] if found else None

    def add(self, entry):
        self.entries = [entry, *self.entries][: self.limit]


def _judge_cache(cache: type):
    if not isinstance(cache, type):
        return "give the class itself, such as check.evicting_cache(Cache)"
    cases = [
        Case(f"with limit {limit}", partial(_use_cache, limit, ks), ADVICE_FOR_CACHE)
        for limit, ks in SEQUENCES
    ]
    return find_difference(cache, _Reference, cases)


def _use_cache(limit: int, ks: tuple, kind: type) -> dict:
    """Return what a cache finds in each call of a sequence; where it finds nothing, it gets one."""
    other, cache, made, seen = kind(limit), kind(limit), {}, {}
    parts_tried({"find": other.find((1.5, 1)), "add": other.add(_make_entry(1))})
    for at, k in enumerate(ks):
        found = cache.find((at + 0.5, k))
        names = [f"the entry for {known}" for known, entry in made.items() if entry is found]
        seen[f"k = {', '.join(map(str, ks[: at + 1]))}"] = (names or [short_repr(found)])[0]
        if found is None and isinstance(k, int):
            made[k] = _make_entry(k)
            cache.add(made[k])
    return seen


EVICTING_CACHE = Exercise(
    "evicting_cache",
    _judge_cache,
    "Yours finds what was used lately, and has dropped what was not.",
    (
        "In which order do you keep the entries, so that the one to drop is easy to find?",
        "Most recent first: a hit moves its entry to the front, a new one goes to the front.",
        "In find: self.entries.remove(entry), then self.entries.insert(0, entry). In add: insert, "
        "then del self.entries[self.limit:].",
    ),
)
