"""Chapter 4: a cache of compiled entries that drops the one that was not used for longest."""

from helpers.study.check import Exercise, tried

# (limit, the values of k of each call)
SEQUENCES = (
    (2, (1, 1, 2, 2)),
    (2, (1, 2, 3, 3)),
    (2, (1, 2, 3, 1)),
    (3, (1, 2, 3, 1, 4, 1, 2)),
    (1, (1, 2, 2, 1)),
    (3, (1, 2, 3, 3, 2, 1, 4, 3, 2, 1)),
)


def _judge_evicting(cache_type):
    if not isinstance(cache_type, type):
        return "give the class itself, such as check.evicting_cache(Cache)"
    for limit, ks in SEQUENCES:
        if because := _compared(cache_type, limit, ks):
            return because
    return None


def _compared(cache_type, limit, ks) -> str | None:
    """Run one sequence; return where it parts from a cache that drops the least recent."""
    from helpers.mini import dynamo
    from helpers.study.chapter_4 import programs

    x, cache, recent = programs.numbers()[0], cache_type(limit), []
    for at, k in enumerate(ks):
        entry = tried(cache.find((x, k)))
        where = f"with limit {limit}, after k = {', '.join(map(str, ks[:at])) or 'nothing'}"
        if entry is None and k in recent:
            return f"{where}: k = {k} is among the last {limit} used, and yours has dropped it"
        if entry is not None and k not in recent:
            return f"{where}: k = {k} has to be compiled again, and yours still found an entry"
        if entry is None:
            entry = dynamo.entry_for(programs.scaled, x, k)
            if tried(cache.add(entry)) is not None:
                return "add returns nothing"
        if not programs.same(entry.run(x, k), x * k):
            return f"{where}: the entry that was found is not for k = {k}"
        recent = [k, *(other for other in recent if other != k)][:limit]
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
