"""Chapter 4: a cache of compiled entries that drops the one that was not used for longest."""

import gc
import random
import weakref

from helpers.capture.text.value import brief
from helpers.study.answers import parts_tried
from helpers.study.chapter_4.forms import called, method_of
from helpers.study.check import Exercise, tried

# (limit, the values of k of each call)
SEQUENCES = (
    (2, (1, 1, 2, 2)),
    (2, (1, 2, 3, 3)),
    (2, (1, 2, 3, 1)),
    (1, (1, 2, 2, 1)),
    (2, (1, 2, 1, 3, 1, 2)),
    (3, (1, 2, 1, 1, 3, 2)),
    (3, (1, 2, 3, 1, 4, 1, 2)),
    (3, (1, 2, 3, 3, 2, 1, 4, 3, 2, 1)),
)
DRAWN, LONGEST, MOST = 12, 24, 5


def _judge_evicting(cache_type):
    if not isinstance(cache_type, type):
        return "give the class itself, such as check.evicting_cache(Cache)"
    method_of(cache_type, "__init__", "limit")
    method_of(cache_type, "find", "values")
    method_of(cache_type, "add", "entry")
    if because := _two(cache_type):
        return because
    for limit, ks in (*SEQUENCES, *_drawn()):
        if because := _compared(cache_type, limit, ks):
            return because
    return None


def _drawn():
    """Return sequences that nobody has seen, the same ones each time; short ones first."""
    draw = random.Random(4)
    sizes = sorted(draw.randint(6, LONGEST) for _ in range(DRAWN))
    limits = [draw.randint(1, MOST) for _ in sizes]
    return [
        (limit, tuple(draw.randint(1, limit + 2) for _ in range(size)))
        for limit, size in zip(limits, sizes, strict=True)
    ]


def _entry(k: int):
    """Return an entry for calls with this k; the guard on its type comes first or last."""
    from helpers.mini.dynamo.cache_entry import Entry, guarded

    words = [f"k == {k}", "type(k) is int"]
    guards, accepts = guarded(words if k % 2 else words[::-1], ("x", "k"), {})
    return Entry(guards, accepts, lambda x, k: x * k)


def _compared(cache_type, limit, ks) -> str | None:
    """Run one sequence; return where it parts from a cache that drops the least recent."""
    cache, recent, made = called(cache_type, f"{cache_type.__name__}({limit})", limit), [], {}
    for at, k in enumerate(ks):
        where = f"with limit {limit}, after k = {_told(ks[:at])}"
        values = at + 0.5, k
        found = tried(called(cache.find, f"{where}: find({values})", values), "find")
        if because := _no_entry(found):
            return f"{where}: {because}"
        if found is None and k in recent:
            return f"{where}: k = {k} is among the last {limit} used, and yours has dropped it"
        if found is not None and k not in recent:
            return f"{where}: k = {k} has to be compiled again, and yours still found an entry"
        if found is None:
            entry = _entry(k)
            made[k] = weakref.ref(entry)
            tried(called(cache.add, f"{where}: add(entry)", entry), "add")
            del entry
        elif found is not made[k]():
            return f"{where}: find should return the entry for k = {k}, and gives another one"
        del found
        if because := _float(cache, f"with limit {limit}, after k = {_told(ks[: at + 1])}", k):
            return because
        recent = [k, *(other for other in recent if other != k)][:limit]
    if _alive(made) > limit:
        gc.collect()  # a cycle may hold them
    if _alive(made) > limit:
        told = f"with limit {limit}, after k = {_told(ks)}"
        return f"{told}: yours still holds more than {limit} entries"
    return None


def _float(cache, where: str, k: int) -> str | None:
    """Return what is wrong if a call is like the last one, but for its type."""
    values = 1.5, float(k)
    found = called(cache.find, f"{where}: find({values})", values)
    return f"{where}: find({values}) gives an entry that asks for an int" if found else None


def _told(ks) -> str:
    return ", ".join(map(str, ks)) or "nothing"


def _alive(made: dict) -> int:
    return sum(ref() is not None for ref in made.values())


def _no_entry(found) -> str:
    """Say that what find gave is neither an entry nor None, if so."""
    from helpers.mini.dynamo.cache_entry import Entry

    fits = found is None or isinstance(found, Entry)
    return "" if fits else f"find should return the entry itself, or None, not {brief(found)}"


def _two(cache_type) -> str | None:
    """Fill one of two caches; return whether the other one knows of it."""
    words = f"{cache_type.__name__}(2)"
    full, other = called(cache_type, words, 2), called(cache_type, words, 2)
    missed = called(full.find, "find((1.5, 1))", (1.5, 1))
    parts_tried({"find": missed, "add": called(full.add, "add(entry)", _entry(1))})
    found = tried(called(other.find, "find((1.5, 1))", (1.5, 1)), "find")
    if because := _no_entry(found):
        return because
    if found is not None:
        return "two caches share their entries: make the list in __init__"
    return None


EVICTING = Exercise(
    "evicting_cache",
    _judge_evicting,
    "Yours finds what was used lately, and has dropped what was not.",
    (
        "In which order do you keep the entries, so that the one to drop is easy to find?",
        "Most recent first: a hit moves its entry to the front, a new one goes to the front.",
        "In find: self.entries.remove(entry), then self.entries.insert(0, entry). In add: insert, "
        "then del self.entries[self.limit:].",
    ),
)
