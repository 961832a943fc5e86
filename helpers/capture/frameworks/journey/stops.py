"""A tally -> the six stops of one call, in words: what was chosen there, or why nothing was."""

import re
from collections import Counter

from helpers.capture.frameworks.journey.caches import LIBRARIES, graph_ops
from helpers.capture.frameworks.journey.tally import Tally
from helpers.capture.text.value import label
from helpers.mini import frame_hook
from helpers.model.journey import Passage, Stop
from helpers.model.phrase import clipped, counted, listed
from helpers.safety.arguments import printable

MOST_NAMES, MOST_OPS, EXACT, LONGEST = 4, 5, 200, 60
THEIRS = {"tensorflow": "TensorFlow", "keras": "Keras", "torch": "PyTorch", "numpy": "NumPy"}
COMPILED = re.compile(r"(__compiled_fn|__resume_at)_[0-9a-f_]+.*")
GRAPH = re.compile(r"__(?:inference|forward|backward)_(.+?)_\d+")
LARGE = (("millions", 10**6), ("hundreds of thousands", 10**5), ("tens of thousands", 10**4))
LARGE += (("thousands", 10**3), ("hundreds", 0))


def passage(tally: Tally) -> Passage:
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
        inside += [f"in it {listed(graph, MOST_OPS)}"] if graph and not inside else []
        kernels[one.kernel] += not graph
    places = [words for words, many in kernels.items() if words and many]
    if len(places) > 1:  # "CPU, float32" each
        places = [words.replace(", ", " ") for words in places]
    chosen = f"kernels for {listed(places, 2)}" if places else ""
    parts = (_times(ops, MOST_OPS), *inside, chosen, written)
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
