"""A function that runs -> a timeline: the graph of its local names after each of its lines."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from dis import opmap

from helpers.capture.cpython.frame_timeline import suspends
from helpers.capture.cpython.settrace import Printed, traced
from helpers.capture.cpython.unwrapping import Unwrapped, to_run
from helpers.capture.references.name_graph import Numbers, names_graph
from helpers.capture.text.source import source_of
from helpers.capture.text.value import label, short_name
from helpers.model.graph import Graph
from helpers.model.phrase import clipped, ended
from helpers.model.timeline import Panel, Step, Timeline

MOST_STEPS = 200
OVER = "The call is over."
CLOSED = (type, functools._lru_cache_wrapper)  # what these hold is not the run's
MOST_TOLD = 60  # characters of output in a sentence

_LATER = {
    "coroutine": "is an async function: a call of it makes a coroutine",
    "async_generator": "is an async generator function: a call of it makes a generator",
}


def names_timeline(fn: Callable, *args, **kwargs) -> Timeline:
    """Return a step before the first line that `fn(*args, **kwargs)` runs, and one after each.

    A step has the local names as they are then, and the line that is about to run.

    What it prints and what it raises are part of the steps. The note says what is not shown and
    why: lines after the first `MOST_STEPS`, a body that a call does not run (a generator, an async
    function), a tracer that was lost on the way. TypeError if `fn` is no Python function. The
    tracer that was set before is set again afterwards.
    """
    run = _Run(to_run(fn, args, "watch_names", refuses_async=False))
    run.go(args, kwargs)
    title = f"{short_name(run.fn.__name__)}, line by line"
    source, notes = run.source, " ".join(run.notes)
    where = (source.file, source.first) if source.file else ()
    return Timeline(title, source.text, told(run.steps), notes, *where)


class _Run:
    """One traced run of one function; `steps` fills up as its lines are done."""

    def __init__(self, watched: Unwrapped):
        self.watched, self.fn, self.steps = watched, watched.function, []
        self.notes = list(watched.sentences)
        self._frame, self._line, self._raised, self._over = None, 0, "", False
        self._printed, self._numbers = Printed(), Numbers()
        self.source = source_of(self.fn.__code__)

    def go(self, args, kwargs):
        """Run the function; an exception that leaves it is told by the last step, or by a note."""
        found = traced(self._enter, self._printed, self.watched, args, kwargs, lambda: self._over)
        name, began = short_name(self.fn.__name__), self._frame is not None
        self._note(self.watched.unreached(began or found.raised))
        if found.driven and not found.raised and not self._over:
            self._note("The generator was run to its end.")
        if not began and found.raised:
            self._note(f"The call of {name} raised {found.kind} before its first line.")
        elif found.kind in _LATER and not self.steps:
            self._note(f"{name} {_LATER[found.kind]} and runs none of its lines; watch a function")
            self._note("that goes through it.")
        elif found.tracer_changed and found.kind == "RecursionError":
            self._note(
                "The recursion was so deep that CPython had no room for the tracer and took it"
            )
            self._note("away: what ran after that is not shown.")
        elif found.tracer_changed:
            where = f"after {self.source.place(self._line)}" if self._line else "at its start"
            self._note(f"{name} took the tracer away (sys.settrace) {where}:")
            self._note("what ran after that is not shown.")
        if began and found.raised and not self._raised:
            self._note(f"The call of {name} raised {found.kind}.")
        self._frame = None

    def _note(self, words):
        if words and words not in self.notes:
            self.notes.append(words)

    def _enter(self, frame, event, argument):
        if frame.f_code is self.fn.__code__ and self._frame in (None, frame):
            self._frame = frame
            return self._on_event
        return None

    def _on_event(self, frame, event, argument):
        if not self._over:
            self._told(frame, event, argument)
        return self._on_event

    def _told(self, frame, event, argument):
        if event == "exception" and _ends_a_loop(frame, argument[0]):
            return
        if event == "return" and suspends(frame):
            return
        if event == "exception":
            self._raised = label(argument[0]).removeprefix("class ")
        elif self._line or event == "line":
            self._step(frame.f_locals, frame.f_lineno if event == "line" else 0)
        if event == "line":
            self._line, self._raised = frame.f_lineno, ""

    def _stop(self, words):
        self._over = True
        self._note(words)

    def _step(self, names: Mapping[str, object], then: int = 0):
        if len(self.steps) > MOST_STEPS:
            self._stop(f"Only the first {MOST_STEPS} lines that ran are shown.")
            return
        place = self.source.place(self._line)
        words = f"{place} raised {self._raised}" if self._raised else f"after {place}"
        words = words if self._line else "the call begins"
        known = [name for name in names if not name.startswith("@")]  # pytest makes such names
        shown = [name for name in known if not name.startswith("_")]
        if len(shown) < len(known):
            self._note("Names that begin with _ are not shown.")
        self._numbers.next_moment()
        graph = names_graph(names, shown, numbers=self._numbers, closed=CLOSED)
        panels = (
            Panel("names and objects", graph if graph.nodes else "none yet"),
            Panel("printed", _last(self._printed)),
        )
        begun = self.source.line(then)
        short = self.source.place(then) if then else "the end"
        self.steps.append(Step(words, begun, panels, short=short))


def _last(printed: Printed) -> str:
    """Return the last characters that were printed; before them, how many are left out."""
    before = printed.total - len(printed.tail)
    told = f"[{before:,} characters before these are not shown]\n" if before else ""
    return told + printed.tail


def _ends_a_loop(frame, kind: type) -> bool:
    """Return whether what was raised is an iterator's word for its end, which a `for` takes."""
    return kind is StopIteration and frame.f_code.co_code[frame.f_lasti] == opmap["FOR_ITER"]


def told(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps, each with what its line is about to do: what the next one finds changed."""
    pairs = zip(steps, steps[1:], strict=False)
    said = [replace(step, says=_says(step, then), lane=_lane(step, then)) for step, then in pairs]
    return (*said, *(replace(step, says=OVER, lane="call") for step in steps[-1:]))


def _says(step: Step, then: Step) -> str:
    parts = _changes(_targets(step), _targets(then)) + _in_place(step, then)
    before, after = (one.panel("printed") for one in (step, then))
    if after != before:
        fresh = after.removeprefix(before) if after.startswith(before) else after
        parts.append(f"prints {clipped(repr(fresh.rstrip()), MOST_TOLD)}")
    if " raised " in then.label:
        parts.append(f"raises {then.label.partition(' raised ')[2]}")
    return ended("; ".join(parts) or "changes no name, and nothing that a name refers to")


def _lane(step: Step, then: Step) -> str:
    if " raised " in then.label:
        return "exception"
    changed = _targets(step) != _targets(then) or _in_place(step, then)
    return "store" if changed else "operate"


def _targets(step: Step) -> dict[str, tuple[str, str]]:
    """Return name -> (key, words) of what it refers to."""
    graph = step.panel("names and objects")
    if type(graph) is not Graph:
        return {}
    nodes = {node.key: node for node in graph.nodes}
    names = {edge.source: edge.target for edge in graph.edges if nodes[edge.source].kind == "name"}
    return {nodes[name].label: (key, nodes[key].label) for name, key in names.items()}


def _changes(before: dict, after: dict) -> list[str]:
    parts = []
    for name, (key, words) in after.items():
        if name not in before:
            parts.append(f"makes {name} refer to {words}")
        elif before[name][0] != key:
            old = before[name][1]
            ways = f"one {old} to another" if old == words else f"{old} to {words}"
            parts.append(f"turns {name} from {ways}")
    return parts + [f"unbinds {name}" for name in before if name not in after]


def _in_place(step: Step, then: Step) -> list[str]:
    """Say which objects that are there before and after hold something else."""
    before, after, names = _contents(step), _contents(then), _targets(then)
    referring = {key: name for name, (key, _) in reversed(names.items())}
    parts = []
    for key in before.keys() & after.keys():
        if before[key] != after[key]:
            old, new = before[key][0], after[key][0]
            words = f" ({old} → {new})" if old != new else ""
            what = f"what {referring[key]} refers to" if key in referring else "an object"
            parts.append(f"changes {what} in place{words}")
    return sorted(parts)


def _contents(step: Step) -> dict[str, tuple]:
    """Return the key of each object -> its words, and where its arrows lead."""
    graph = step.panel("names and objects")
    if type(graph) is not Graph:
        return {}
    kept = {n.key: (n.detail, []) for n in graph.nodes if n.kind not in ("name", "group")}
    for edge in graph.edges:
        if edge.source in kept:
            kept[edge.source][1].append((edge.label, edge.target))
    return {key: (detail, tuple(sorted(leads))) for key, (detail, leads) in kept.items()}
