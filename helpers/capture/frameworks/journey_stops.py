"""A function and its arguments -> its journey: the first call that is watched, and one again.

Each call has six stops, in words: what was chosen there, or why nothing was. The shares of time are
measured in a run of their own: `cProfile` is written in C and adds little; nothing else watches.
"""

import re
from collections import Counter
from cProfile import Profile

from helpers.capture.cpython.objects import GENERATOR, name_of
from helpers.capture.cpython.settrace import Printed
from helpers.capture.frameworks.call_recorder import refuse_what_does_not_run
from helpers.capture.frameworks.journey_recorder import LIBRARIES, Tally, tally, through
from helpers.capture.text.value import label
from helpers.internals.tensorflow_private import graph_ops
from helpers.mini import frame_hook
from helpers.model.framework_records import SHARES, Journey, Passage, Stop
from helpers.model.phrase import clipped, counted, listed
from helpers.safety.arguments import printable, require_bool
from helpers.safety.restoring import redirected, running_user_code

MOST_NAMES, MOST_SHOWN, EXACT, LONGEST = 4, 5, 200, 60
THEIRS = {"tensorflow": "TensorFlow", "keras": "Keras", "torch": "PyTorch", "numpy": "NumPy"}
COMPILED = re.compile(r"(__compiled_fn|__resume_at)_[0-9a-f_]+.*")
GRAPH = re.compile(r"__(?:inference|forward|backward)_(.+?)_\d+")
LARGE = (("millions", 10**6), ("hundreds of thousands", 10**5), ("tens of thousands", 10**4))
LARGE += (("thousands", 10**3), ("hundreds", 0))
NO_LINE = "none of your lines ran"
NO_C = "your lines call no C function that reports it: a class or a ufunc (np.add) does not"


def journey(fn, *args, shares: bool = False, **kwargs) -> Journey:
    """Run `fn(*args, **kwargs)` twice, and show which of the six seams each of the calls passed.

    `.model.first` and `.model.again` have what was counted, for the thread that calls. *Yours* is
    what the module of `fn` holds; frames of others are counted, and not followed.
    `shares=True` calls it some more times, with nothing but a profiler written in C, and shows in
    whose code its time passed. An Exception and what it prints are told. TypeError if `fn` cannot
    be called, or makes a coroutine.
    """
    function = refuse_what_does_not_run(fn, "show_journey")
    first, again = (tally(fn, args, kwargs, function) for _ in range(2))
    measured = _measure_shares(fn, args, kwargs, again) if require_bool(shares, "shares=") else ()
    notes = []
    if function is not None and function.__code__.co_flags & GENERATOR:
        notes.append("The call only made a generator: none of its body ran.")
    if shares and not measured:
        notes.append("No time was measured: the call raises.")
    title = f"The journey of {name_of(fn)}, called twice"
    return Journey(title, _passage(first), _passage(again), measured, " ".join(notes))


def _measure_shares(fn, args: tuple, kwargs: dict, again: Tally) -> tuple[tuple[str, float], ...]:
    if again.outcome:
        return ()
    profile, found = Profile(), dict.fromkeys(SHARES, 0.0)
    with redirected(Printed()), running_user_code():
        profile.runcall(through, fn, args, kwargs)
    yours, python, c = SHARES
    for entry in profile.getstats():
        of_python = yours if id(entry.code) in again.codes else python
        found[c if isinstance(entry.code, str) else of_python] += entry.inlinetime
    return tuple((name, part / sum(found.values())) for name, part in found.items())


def _passage(tally: Tally) -> Passage:
    makers = (_name, _key, _frame, _evaluator, _registry, _c_call)
    stops = tuple(Stop(at, *maker(tally)) for at, maker in enumerate(makers, 1))
    printed = clipped(tally.printed.strip().replace("\n", " / "), LONGEST)
    names = tuple(_op(name)[0] for name, _ in tally.ran)
    counts = {name: getattr(tally, name) for name in ("keys", "traces", "translated", "nodes")}
    counts |= {"names": tally.names.total(), "operators": tally.operators.total()}
    counts |= {"frames of others": tally.others.total(), "ops": len(tally.ran)}
    counts |= {"frames of Dynamo's": tally.frames["Dynamo"]}
    counts |= {"C calls": _entries_into_c(tally).total()}
    for name, counter in (("frames", tally.frames), ("lines", tally.lines)):
        counts[name] = counter.total() - counter["Dynamo"]
    return Passage(stops, tuple(counts.items()), names, tally.outcome, printed)


def _name(tally: Tally) -> tuple[bool, str, str]:
    if tally.space is None:
        return False, "–", "no Python function of yours is called"
    if not tally.frames:
        return False, "–", f"{NO_LINE}, so none of their names was looked up"
    if not tally.names:
        return False, "–", "your lines name nothing but arguments and variables of their own"
    shown = Counter()
    for name, many in tally.names.items():
        shown[_held(COMPILED.sub(r"\1", name), tally.found.get(name))] += many
    return True, counted(len(shown), "name"), _times(shown, MOST_NAMES)


def _held(name: str, value) -> str:
    """Return a name and, where that says more, what stood under it; KeyError is for a builtin."""
    shown, told = printable(name, LONGEST), label(value)
    if value is KeyError:
        return f"{shown} (builtin)"
    if name.startswith("__import_"):  # Dynamo's name for a module
        return told
    return shown if told.rstrip("()") == shown or name.startswith("__") else f"{shown} ({told})"


def _key(tally: Tally) -> tuple[bool, str, str]:
    many, traces = tally.keys, tally.traces
    if not many and not traces:
        return False, "–", "no tf.function is called, so nothing is looked up by its arguments"
    if many != 1 or traces > 1:
        words = f"{counted(many, 'call')} of tf.functions, {counted(traces, 'trace')}"
        return True, counted(traces, "trace") if traces else "graphs found", words
    key = f" {tally.key}" if tally.key else ""
    if traces:
        return True, "traced", f"no graph fits the key{key}: traced"
    if tally.outcome or not any(_op(name)[1] for name, _ in tally.ran):
        return True, "no graph", f"the key{key} led to no graph that was run"
    return True, "graph found", f"a graph fits the key{key}: found"


def _frame(tally: Tally) -> tuple[bool, str, str]:
    others = _others(tally)
    if not tally.frames:
        found = "the graph was found, and " * bool(tally.keys and not tally.outcome)
        return False, "–", _joined(found + NO_LINE, others)
    yours, copied, made = (tally.frames[who] for who in ("you", "AutoGraph", "Dynamo"))
    lines, operators = counted(tally.lines["you"], "line"), tally.operators.total()
    done = f"{lines}, {counted(operators, 'operator')}" if operators else lines
    words = _joined(
        f"{counted(yours, 'frame')} of yours: {done}" * bool(yours),
        f"{counted(copied, 'frame')} of AutoGraph's copy of yours" * bool(copied),
        f"{counted(made, 'frame')} of yours, with Dynamo's code in it" * bool(made),
        others,
    )
    brief = lines if yours else "AutoGraph's copy"
    return True, "Dynamo's code" if made else brief, words


def _others(tally: Tally) -> str:
    package = max(THEIRS, key=lambda package: tally.others[package])
    most = tally.others[package]
    return f"{_about(most)} of {THEIRS[package]}'s" if most else ""


def _about(many: int) -> str:
    """Return a count; of many frames, which may be other ones each time, only how many about."""
    large = next(words for words, least in LARGE if many >= least)
    return large if many > EXACT else f"{many}"


def _evaluator(tally: Tally) -> tuple[bool, str, str]:
    own = {one.owner for one in map(frame_hook.evaluator_at, tally.evaluators)}
    other = sorted(owner for owner in own if not owner.startswith("CPython"))
    if not other:
        return False, "–", "CPython's own runs the frames: no other one is set"
    whose = "torch's evaluator" if other == ["torch"] else f"evaluator of {', '.join(other)}"
    if tally.translated:
        words = f"Dynamo translates {counted(tally.translated, 'code object')}"
        return True, "translated", f"{whose}; no cache entry fits: {words}"
    if made := tally.frames["Dynamo"]:
        words = f"the guards of an entry hold, for {counted(made, 'frame')}"
        return True, "entry found", f"{whose}; {words}"
    words = "which lets your code run as it is" if tally.frames else "and no code of yours ran"
    return True, "asked", f"{whose}, {words}"


def _registry(tally: Tally) -> tuple[bool, str, str]:
    written = f"{counted(tally.nodes, 'node')} written into a graph" if tally.nodes else ""
    if not tally.ran:
        nothing = "no op of TensorFlow or PyTorch runs; NumPy reports none"
        return False, "–", _joined(nothing, written)
    ops, kernels, inside = Counter(), {}, ""
    for op, kernel in tally.ran:
        name, graph = _op(op)
        ops[f"the graph of {name}" if graph else name] += 1
        if graph:
            inside = inside or f"in it {listed(graph, MOST_SHOWN)}"
        elif kernel:
            kernels[kernel] = kernel.replace(", ", " ")
    places = [*kernels.values()] if len(kernels) > 1 else [*kernels]  # "CPU, float32", if alone
    chosen = f"kernels for {listed(places, 2)}" if places else ""
    words = _joined(_times(ops, MOST_SHOWN), inside, chosen, written)
    return True, counted(len(tally.ran), "op"), words


def _op(name: str) -> tuple[str, tuple[str, ...]]:
    found = GRAPH.fullmatch(name)
    inside = graph_ops(name) if found else ()
    return (printable(found[1], LONGEST), inside) if inside else (name, ())


def _c_call(tally: Tally) -> tuple[bool, str, str]:
    into = _entries_into_c(tally)
    if not into:
        inside = "; nor does an operator, which goes to C inside its own instruction"
        return False, "–", NO_C + inside * bool(tally.operators.total())
    doors = Counter()
    for start in ("TFE_Py_E", "TFE_Py_Fast"):
        doors += Counter({name: many for name, many in into.items() if name.startswith(start)})
    own = Counter({name: many for (_, name), many in tally.own_c.items()})
    rest = sum((into - doors - own).values())
    shown = doors + (own - doors)
    more = f"{_about(rest)}{' more' * bool(shown)} of the frameworks' own" if rest else ""
    brief = counted(into.total(), "call") if into.total() <= EXACT else "many calls"
    return True, brief, _joined(_times(shown, MOST_NAMES), more)


def _entries_into_c(tally: Tally) -> Counter:
    """Return C function -> calls, of those that your frames call, and of the frameworks' own."""
    found = Counter()
    for key, many in tally.c.items():
        found[key[1]] += many if key[0] in LIBRARIES else tally.own_c[key]
    return +found


def _joined(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def _times(counts: Counter, most: int) -> str:
    times = {name: f" ×{n:,}" if n > 1 else "" for name, n in counts.items()}
    return listed((printable(name, LONGEST) + words for name, words in times.items()), most)
