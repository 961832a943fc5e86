"""Step 4 of the mini-Dynamo: the finished one finds the same, and the same guards fail first."""

from helpers.capture.text.value import brief
from helpers.study.chapter_4.forms import called, function
from helpers.study.check import tried
from helpers.study.two_answers import parted, within


def judge_lookup(answer):
    """Judge step 4 on caches of no entry, of one, of many, and of some that fit alike."""
    from helpers.mini import dynamo
    from helpers.mini.dynamo.cache_entry import Entry
    from helpers.study.chapter_4 import programs, trial

    function(answer, "lookup", "entries, values")
    x, _ = programs.numbers()
    calls = [(x, 1), (x, 2), (x.double(), 1), (x, 2.0)]
    entries, twins = (_compiled(calls) for _ in range(2))
    always = Entry((), lambda *values: True, None)
    caches = ([], entries[:1], entries, [*entries, *twins], [*entries[::-1], always])
    for kept in caches:
        for args in (*calls, (x[:1], 1), (x, True), (x, None)):
            want, misses = dynamo.PARTS.lookup(kept, args)
            words = f"with {len(kept)} in the cache, {trial.shown(programs.scaled, args)}"
            given = list(kept)
            got = tried(called(answer, words, given, args))
            if because := _other_find(got, want, misses, kept):
                return within(f"{words}: ", because)
            if len(given) != len(kept) or any(a is not b for a, b in zip(given, kept, strict=True)):
                return f"{words}: yours changes the list of entries; only look at it"
    return None


def _compiled(calls) -> list:
    """Return the entries that these calls of one program make."""
    from helpers.mini import dynamo
    from helpers.study.chapter_4 import programs

    compiled = dynamo.compile(programs.scaled)
    for args in calls:
        compiled(*args)
    return list(compiled.entries)


def _other_find(got, want, misses, entries) -> str | None:
    if not isinstance(got, (tuple, list)) or len(got) != 2:
        return f"return a pair, the entry or None and the list of texts, not {brief(got)}"
    entry, texts = tried(got[0], "the entry"), tried(got[1], "misses")
    if not isinstance(texts, (list, tuple)):
        return f"misses must be a list of texts, not {brief(texts)}"
    if odd := [text for text in texts if not isinstance(text, str)]:
        return f"misses must be a list of texts: append guard.text, not {brief(odd[0])}"
    if entry is not want:
        first = f"{_which(want, entries)} fits{'' if want is None else ' first'}: "
        gives = f"gives {_which(entry, entries)}", f"gives {_which(want, entries)}"
        return parted(first, *gives, "the finished one")
    if list(texts) != misses:
        noted = f"notes {list(texts)}", f"notes {misses}"
        return parted("of each entry the first failing guard: ", *noted, "the finished one")
    return None


def _which(entry, entries) -> str:
    if entry is None:
        return "no entry"
    known = [other is entry for other in entries]
    return f"entry {known.index(True)}" if any(known) else f"{brief(entry)}, no entry of the list"
