"""A function and its arguments -> its journey: the first call that is watched, and one again.

Each call has six stops, in words: what was chosen there, or why nothing was. The shares of time are
measured in runs of their own: `cProfile` is written in C and adds little; nothing else watches.
"""

import re
from collections import Counter
from collections.abc import Iterator
from cProfile import Profile
from time import perf_counter
from types import CodeType

from helpers.capture.cpython.objects import GENERATOR, name_of, refuse_async
from helpers.capture.cpython.settrace import Printed
from helpers.capture.cpython.unwrapping import behind, calls_itself
from helpers.capture.frameworks.journey_recorder import (
    LIBRARIES,
    MOST_OPS,
    MOST_STEPS,
    Tally,
    space_of,
    tally,
    through,
)
from helpers.capture.text.error import instead
from helpers.capture.text.value import label
from helpers.internals.tensorflow_private import graph_ops
from helpers.mini import frame_hook
from helpers.model.journey import SHARES, Journey, Passage, Stop
from helpers.model.phrase import clipped, counted, listed
from helpers.safety.arguments import kind_of, printable, switch
from helpers.safety.restoring import redirected, theirs

MOST_NAMES, MOST_SHOWN, EXACT, LONGEST = 4, 5, 200, 60
THEIRS = {"tensorflow": "TensorFlow", "keras": "Keras", "torch": "PyTorch", "numpy": "NumPy"}
COMPILED = re.compile(r"(__compiled_fn|__resume_at)_[0-9a-f_]+.*")
GRAPH = re.compile(r"__(?:inference|forward|backward)_(.+?)_\d+")
LARGE = (("millions", 10**6), ("hundreds of thousands", 10**5), ("tens of thousands", 10**4))
LARGE += (("thousands", 10**3), ("hundreds", 0))
ENOUGH, MOST_RUNS = 0.2, 200  # seconds, and calls


def journey(fn, args: tuple, kwargs: dict, timed: bool = False) -> Journey:
    """Call `fn(*args, **kwargs)` twice, and return what both calls passed.

    `timed`: call it some more times, for the shares of time. TypeError if `fn` cannot be called,
    or makes a coroutine.
    """
    switch(timed, "shares=")
    if calls_itself(fn):
        raise TypeError("show_journey needs a function, not a partial that is its own function")
    if not callable(fn):
        needed = f"show_journey needs a function and its arguments, not {kind_of(fn)}"
        raise TypeError(f"{needed}{instead(fn)}")
    function = behind(fn)
    if function is not None:
        refuse_async(function, "show_journey")
    space = space_of(function)
    first, again = (tally(fn, args, kwargs, function, space) for _ in range(2))
    measured = _shares(fn, args, kwargs, again) if timed else ()
    title = f"The journey of {name_of(fn)}, called twice"
    both = _passage(first), _passage(again)
    return Journey(title, *both, measured, _note(function, (first, again), timed, measured))


def _note(function, tallies: tuple[Tally, ...], timed: bool, measured: tuple) -> str:
    notes = []
    if function is not None and function.__code__.co_flags & GENERATOR:
        notes.append("The call only made a generator: none of its body ran.")
    if threads := max(one.seen.threads for one in tallies):
        notes.append(f"It started {counted(threads, 'thread')}: what runs there is not watched.")
    if not all(one.seen.stayed for one in tallies):
        notes.append("The recorder was taken off in the midst: what came after is not counted.")
    if any(one.seen.cut for one in tallies):
        notes.append(f"Names, lines and operators are of the first {MOST_STEPS:,} instructions.")
    if any(len(one.ran) == MOST_OPS for one in tallies):
        notes.append(f"Ops after the first {MOST_OPS:,} are not counted.")
    if timed and not measured:
        notes.append("No time was measured: the call raises, or another profiler is at work.")
    return " ".join(notes)


def _shares(fn, args: tuple, kwargs: dict, again: Tally) -> tuple[tuple[str, float], ...]:
    """Return the parts of the time, which sum up to 1; () if that could not be measured."""
    if again.outcome:
        return ()
    yours = set(again.seen.codes)
    try:
        with redirected(Printed()), theirs():
            runs = list(_runs(fn, args, kwargs))
    except KeyboardInterrupt:
        raise
    except BaseException:  # it may raise this time, and another profiler refuses
        return ()
    found = min((_parts(run, yours) for run in runs), key=lambda parts: sum(parts.values()))
    total = sum(found.values())
    return tuple((name, part / total) for name, part in found.items()) if total else ()


def _runs(fn, args, kwargs) -> Iterator[Profile]:
    """Yield a profile of each of several calls: the quickest is the one that nothing disturbed."""
    start, runs = perf_counter(), 0
    while runs < MOST_RUNS and (not runs or perf_counter() - start < ENOUGH):
        runs, profile = runs + 1, Profile()
        profile.enable()
        try:
            through(fn, args, kwargs)
        finally:
            profile.disable()
        yield profile


def _parts(profile: Profile, yours: set[int]) -> dict[str, float]:
    found = dict.fromkeys(SHARES, 0.0)
    for entry in profile.getstats():
        if entry.code is not through.__code__:
            found[_whose(entry.code, yours)] += entry.inlinetime
    return found


def _whose(code: CodeType | str, yours: set[int]) -> str:
    if type(code) is not CodeType:
        return SHARES[2]
    return SHARES[0] if id(code) in yours else SHARES[1]


# ------------------------------------------------------------------ the six stops


def _passage(tally: Tally) -> Passage:
    """Return what one call did at each station."""
    makers = (_name, _key, _frame, _evaluator, _registry, _c_call)
    stops = tuple(Stop(at, *maker(tally)) for at, maker in enumerate(makers, 1))
    printed = clipped(tally.printed.strip().replace("\n", " / "), LONGEST)
    names = tuple(_op(one.op)[0] for one in tally.ran)
    return Passage(stops, _counts(tally), names, tally.outcome, printed)


def _counts(tally: Tally) -> tuple[tuple[str, int], ...]:
    seen = tally.seen
    found = {
        "names": seen.names.total(),
        "keys": seen.keys,
        "traces": tally.traces,
        "frames": tally.own_frames - tally.frames["Dynamo"],
        "lines": tally.lines.total() - tally.lines["Dynamo"],
        "operators": tally.operators,
        "frames of Dynamo's": tally.frames["Dynamo"],
        "translated": tally.translated,
        "frames of others": seen.others.total(),
        "ops": len(tally.ran),
        "nodes": tally.nodes,
        "C calls": _entries_into_c(tally).total(),
    }
    return tuple(found.items())


def _name(tally: Tally) -> tuple[bool, str, str]:
    seen = tally.seen
    if seen.space is None:
        return False, "–", "no Python function of yours is called"
    if not tally.own_frames:
        return False, "–", "none of your lines ran, so none of their names was looked up"
    if not seen.names:
        return False, "–", "your lines name nothing but arguments and variables of their own"
    shown = Counter()
    for name, many in seen.names.items():
        shown[_held(COMPILED.sub(r"\1", name), seen.found.get(name))] += many
    return True, counted(len(shown), "name"), _times(shown, MOST_NAMES)


def _held(name: str, value) -> str:
    """Return a name and, where that says more, what stood under it; KeyError is for a builtin."""
    shown = printable(name, LONGEST)
    if value is KeyError:
        return f"{shown} (builtin)"
    told = label(value)
    if name.startswith("__import_"):  # Dynamo's name for a module
        return told
    return shown if told.rstrip("()") == shown or name.startswith("__") else f"{shown} ({told})"


def _key(tally: Tally) -> tuple[bool, str, str]:
    many, traces = tally.seen.keys, tally.traces
    if not many and not traces:
        return False, "–", "no tf.function is called, so nothing is looked up by its arguments"
    if many != 1 or traces > 1:
        words = f"{counted(many, 'call')} of tf.functions, {counted(traces, 'trace')}"
        return True, f"{counted(traces, 'trace')}" if traces else "graphs found", words
    key = f" {tally.key}" if tally.key else ""
    if traces:
        return True, "traced", f"no graph fits the key{key}: traced"
    if tally.outcome or not _graphs(tally):
        return True, "no graph", f"the key{key} led to no graph that was run"
    return True, "graph found", f"a graph fits the key{key}: found"


def _graphs(tally: Tally) -> list[str]:
    return [name for name, inside in (_op(one.op) for one in tally.ran) if inside]


def _frame(tally: Tally) -> tuple[bool, str, str]:
    others = _others(tally)
    if not tally.own_frames:
        why = "none of your lines ran"
        if tally.seen.keys:
            why = "the graph was found, and none of your lines ran" if not tally.outcome else why
        return False, "–", "; ".join(filter(None, (why, others)))
    yours, copied, made = (tally.frames[who] for who in ("you", "AutoGraph", "Dynamo"))
    parts = [f"{counted(yours, 'frame')} of yours: {_lines(tally)}"] if yours else []
    parts += [f"{counted(copied, 'frame')} of AutoGraph's copy of yours"] if copied else []
    parts += [f"{counted(made, 'frame')} of yours, with Dynamo's code in it"] if made else []
    brief = counted(tally.lines["you"], "line") if yours else "AutoGraph's copy"
    return True, "Dynamo's code" if made else brief, "; ".join(filter(None, (*parts, others)))


def _lines(tally: Tally) -> str:
    words = counted(tally.lines["you"], "line")
    more = f", {counted(tally.operators, 'operator')}" if tally.operators else ""
    return f"{'more than ' if tally.seen.cut else ''}{words}{more}"


def _others(tally: Tally) -> str:
    """Return how many frames a framework had; without one, those of other modules, not followed."""
    found = {who: tally.seen.others[package] for package, who in THEIRS.items()}
    who, most = max(found.items(), key=lambda item: item[1])
    if most:
        return f"{_about(most)} of {who}'s"
    many = tally.seen.others.total()
    packages = [printable(name, LONGEST) for name, _ in tally.seen.others.most_common()]
    return f"{_about(many)} of {listed(packages, MOST_NAMES)}, not followed" if many else ""


def _about(many: int) -> str:
    """Return a count; of many frames, which may be other ones each time, only how many about."""
    if many <= EXACT:
        return f"{many}"
    return next(words for words, least in LARGE if many >= least)


def _evaluator(tally: Tally) -> tuple[bool, str, str]:
    own = {one.owner for one in map(frame_hook.evaluator_at, tally.seen.evaluators)}
    other = sorted(owner for owner in own if not owner.startswith("CPython"))
    made, translated = tally.frames["Dynamo"], tally.translated
    if not other:
        return False, "–", "CPython's own runs the frames: no other one is set"
    whose = "torch's evaluator" if other == ["torch"] else f"evaluator of {', '.join(other)}"
    if translated:
        words = f"no cache entry fits: Dynamo translates {counted(translated, 'code object')}"
        return True, "translated", f"{whose}; {words}"
    if made:
        words = f"the guards of an entry hold, for {counted(made, 'frame')}"
        return True, "entry found", f"{whose}; {words}"
    words = "which lets your code run as it is" if tally.own_frames else "and no code of yours ran"
    return True, "asked", f"{whose}, {words}"


def _registry(tally: Tally) -> tuple[bool, str, str]:
    written = f"{counted(tally.nodes, 'node')} written into a graph" if tally.nodes else ""
    if not tally.ran:
        nothing = "no op of TensorFlow or PyTorch runs; NumPy reports none"
        return False, "–", "; ".join(filter(None, (nothing, written)))
    ops, kernels, inside = Counter(), Counter(), []
    for one in tally.ran:
        name, graph = _op(one.op)
        ops[f"the graph of {name}" if graph else name] += 1
        inside += [f"in it {listed(graph, MOST_SHOWN)}"] if graph and not inside else []
        kernels[one.kernel] += not graph
    places = [words for words, many in kernels.items() if words and many]
    if len(places) > 1:  # "CPU, float32" each
        places = [words.replace(", ", " ") for words in places]
    chosen = f"kernels for {listed(places, 2)}" if places else ""
    parts = (_times(ops, MOST_SHOWN), *inside, chosen, written)
    return True, counted(len(tally.ran), "op"), "; ".join(filter(None, parts))


def _op(name: str) -> tuple[str, tuple[str, ...]]:
    """Return an op's name and nothing, or whose graph it is and the ops in that."""
    found = GRAPH.fullmatch(name)
    inside = graph_ops(name) if found else ()
    return (printable(found[1], LONGEST), inside) if inside else (name, ())


def _c_call(tally: Tally) -> tuple[bool, str, str]:
    into = _entries_into_c(tally)
    if not into:
        why = "your lines call no C function that reports it: a class or a ufunc (np.add) does not"
        if tally.operators:
            why += "; nor does an operator, which goes to C inside its own instruction"
        return False, "–", why
    doors = Counter({name: many for name, many in into.items() if name.startswith("TFE_Py_E")})
    doors += Counter({name: many for name, many in into.items() if name.startswith("TFE_Py_Fast")})
    own = Counter({name: many for (_, name), many in tally.seen.own_c.items()})
    rest = sum((into - doors - own).values())
    shown = doors + (own - doors)
    more = f"{_about(rest)}{' more' * bool(shown)} of the frameworks' own" if rest else ""
    words = "; ".join(filter(None, (_times(shown, MOST_NAMES), more)))
    return True, counted(into.total(), "call") if into.total() <= EXACT else "many calls", words


def _entries_into_c(tally: Tally) -> Counter:
    """Return C function -> calls, of those that your frames call, and of the frameworks' own."""
    found = Counter()
    for (package, name), many in tally.seen.c.items():
        if package in LIBRARIES:
            found[name] += many
        else:
            found[name] += tally.seen.own_c[package, name]
    return +found


def _times(counts: Counter, most: int) -> str:
    words = [
        f"{printable(name, LONGEST)}{f' ×{n:,}' if n > 1 else ''}" for name, n in counts.items()
    ]
    return listed(words, most)
