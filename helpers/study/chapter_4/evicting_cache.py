"""Chapter 4: a cache of compiled entries that drops the one that was not used for longest."""

import gc
import random
import weakref
from functools import partial

from helpers.capture.text.value import brief
from helpers.study.engine import Case, Exercise, find_difference, parts_tried, tried

# (limit, the values of k of each call)
SEQUENCES = ((2, (1, 1, 2, 2)), (1, (1, 2, 2, 1)), (2, (1, 2, 1, 3, 1, 2)), (2, (1, 2, 3, 3)))
DRAW = random.Random(4)
SEQUENCES += tuple(
    (limit, tuple(DRAW.randint(1, limit + 2) for _ in range(6 * limit))) for limit in (2, 3, 4)
)
SHARED = "make the list of entries in __init__, or two caches share it"
ADVICE = "a hit moves its entry to the front, and a new one goes there; the last ones are dropped"


class _Reference:
    def __init__(self, limit):
        self.limit, self.entries = limit, []

    def find(self, values):
        found = [e for e in self.entries if all(guard.holds(values) for guard in e.guards)]
        self.entries.sort(key=lambda entry: entry not in found)
        return found[0] if found else None

    def add(self, entry):
        self.entries = [entry, *self.entries][: self.limit]


def _judge(cache: type):
    if not isinstance(cache, type):
        return "give the class itself, such as check.evicting_cache(Cache)"
    cases = [
        Case(f"with limit {limit}", partial(_use, limit, ks), ADVICE) for limit, ks in SEQUENCES
    ]
    return find_difference(cache, _Reference, [Case("two caches", _use_two, SHARED), *cases])


def _use_two(kind: type) -> str:
    full, other = kind(2), kind(2)
    parts_tried({"find": full.find((1.5, 1)), "add": full.add(_entry(1))})
    return brief(other.find((1.5, 1)))


def _use(limit: int, ks: tuple[int, ...], kind: type) -> dict:
    """Return what a cache finds in each call, for a float like its k, and how many it holds."""
    cache, made, seen = kind(limit), {}, {}
    for at, k in enumerate(ks):
        found = tried(cache.find((at + 0.5, k)), "find")
        words = brief(found)
        if found is None:
            entry = _entry(k)
            made[k] = weakref.ref(entry)
            tried(cache.add(entry), "add")
            del entry
        elif k in made and found is made[k]():
            words = f"the entry for {k}"
        del found
        other = cache.find((1.5, float(k)))
        seen[f"k = {', '.join(map(str, ks[: at + 1]))}"] = [words, f"{float(k)}: {brief(other)}"]
    gc.collect(0)  # a cycle may hold some
    return seen | {"entries held": sum(entry() is not None for entry in made.values())}


def _entry(k: int):
    """Return an entry for calls with this k; the guard on its type comes first or last."""
    from helpers.mini.dynamo.convert_frame import Entry, guarded

    words = [f"k == {k}", "type(k) is int"]
    guards, accepts = guarded(words if k % 2 else words[::-1], ("x", "k"), {})
    return Entry(guards, accepts, lambda x, k: x * k)


EVICTING_CACHE = Exercise(
    "evicting_cache",
    _judge,
    "Yours finds what was used lately, and has dropped what was not.",
    (
        "In which order do you keep the entries, so that the one to drop is easy to find?",
        "Most recent first: a hit moves its entry to the front, a new one goes to the front.",
        "In find: self.entries.remove(entry), then self.entries.insert(0, entry). In add: insert, "
        "then del self.entries[self.limit:].",
    ),
)
