"""Step 4 of the mini-Dynamo: the finished one finds the same, and the same guards fail first."""

from collections.abc import Callable

from helpers.capture.text.value import brief
from helpers.study.engine import Case, Exercise, find_difference, tried

ADVICE = (
    "return the first entry that fits, or None, and of each entry before it the text of the first "
    "guard that fails"
)


def _judge(lookup: Callable):
    """Judge on caches of no entry, of one, of many, and of some that fit alike."""
    from helpers.mini import dynamo
    from helpers.mini.dynamo.convert_frame import Entry
    from helpers.study.chapter_4.dynamo_values import describe, numbers, scaled

    x, _ = numbers()
    calls = [(x, 1), (x, 2), (x.double(), 1), (x, 2.0)]
    compiled = dynamo.compile(scaled)
    for args in calls:
        compiled(*args)
    entries = compiled.entries
    always = Entry((), lambda *values: True, None)
    caches = ([], entries[:1], entries, [*entries, *entries], [*entries[::-1], always])
    cases = [
        Case(
            f"with {len(kept)} in the cache, scaled({describe(args[0])}, {describe(args[1])})",
            _run(kept, args),
            ADVICE,
        )
        for kept in caches
        for args in (*calls, (x[:1], 1), (x, True), (x, None))
    ]
    return find_difference(lookup, dynamo.PARTS.lookup, cases, "the finished one")


def _run(kept: list, args: tuple) -> Callable:
    def run(answer):
        found = tried(answer(list(kept), args))
        if not isinstance(found, tuple | list) or len(found) != 2:
            return f"{brief(found)}, which is no pair"
        entry, misses = tried(found[0], "the entry"), tried(found[1], "misses")
        if isinstance(misses, tuple | list):
            misses = [text if isinstance(text, str) else brief(text) for text in misses]
        else:
            misses = brief(misses)
        place = next((k for k, one in enumerate(kept) if one is entry), None)
        which = brief(entry) if place is None else f"entry {place}"
        return which, misses

    return run


DYNAMO_LOOKUP = Exercise(
    "dynamo_lookup",
    _judge,
    "Yours finds the entries that the finished one finds, and the same guards fail first.",
    (
        "Of each entry you need to know one thing: the first guard that does not hold.",
        "guard.holds(values) tells, guard.text is what to report, in the order of the entries.",
        "next((g for g in entry.guards if not g.holds(values)), None) is the first failing "
        "guard. None means that the entry fits: return it at once.",
    ),
)
