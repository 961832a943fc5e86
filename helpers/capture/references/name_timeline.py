"""A function that runs -> a timeline: the graph of its local names after each of its lines."""

import enum
import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from dis import get_instructions, opmap
from types import FunctionType, MethodType, ModuleType

from ...internals.interpreter_frame import local_variables
from ...model.graphs import Graph
from ...model.phrase import clipped, ended, interrupted
from ...model.stage_records import Panel, Step, Timeline
from ...safety.arguments import is_exactly, real_isinstance
from ...safety.users_frames import is_library
from ..cpython.following import Limits
from ..cpython.frame import suspends
from ..cpython.objects import named
from ..cpython.settrace import Printed, traced
from ..cpython.unwrapping import Unwrapped, to_run
from ..text.source import source_of
from ..text.value import library_value, of_library, short_name, short_repr
from .name_graph import Numbers, names_graph

MOST_STEPS = 200
OVER = "The call is over."
CUT = "You interrupted the call here."
FOLLOWED = (list, tuple, dict, set, frozenset, functools.partial, MethodType)
CALLS = ("CALL", "CALL_FUNCTION_EX", "CALL_KW")
MOST_TOLD = 60  # characters of output in a sentence


def names_timeline(fn: Callable, /, *args, most: int = MOST_STEPS, **kwargs) -> Timeline:
    """Run `fn(*args, **kwargs)` and record its names and objects after each line."""
    run = _Run(to_run(fn, "watch_names", args), Limits("watch_names", most=most).most)
    run.go(args, kwargs)
    title = f"{named(run.fn)}{run.source.where}, line by line"
    source, notes, steps = run.source, " ".join(filter(None, run.notes)), run.steps
    # What a line is about to do is what the next step finds changed.
    pairs = zip(steps, steps[1:], strict=False)
    told = [replace(step, **_compare(step, then, run.calling)) for step, then in pairs]
    over = CUT if run.is_cut else OVER
    told += [replace(step, says=over, lane="return") for step in steps[-1:]]
    return Timeline(title, source.text, tuple(told), notes, source.places)


class _Run:
    """One traced run of one function; `steps` fills up as its lines are done."""

    def __init__(self, watched: Unwrapped, most: int):
        self.watched, self.fn, self.steps = watched, watched.function, []
        self.notes, self._most = dict.fromkeys(watched.sentences), most  # each note once
        self._frame, self._line, self._raised, self._over = None, 0, "", False
        self.is_cut, self._order = False, []
        self._printed, self._numbers = Printed(), Numbers()
        self.source = source_of(self.fn.__code__).folded()
        made = (at for at in get_instructions(self.fn.__code__) if at.opname in CALLS)
        self.calling = {self.source.line(at.positions.lineno) for at in made} - {0}

    def go(self, args, kwargs):
        """Run the function; an exception that leaves it is told by the last step, or by a note."""
        found = traced(self._enter, self._printed, self.watched, args, kwargs, lambda: self._over)
        found.require_record(len(self.steps))
        self.is_cut = found.interrupt is not None
        name, began = short_name(self.fn.__name__), self._frame is not None
        when = "" if began else " before its first line"
        raised = f"The call of {name} raised {found.kind}{when}."
        ended_well = found.driven and not found.raised and not self._over
        lines = max(len(self.steps) - 1, 0)  # the first step comes before the first line
        told = {
            self.watched.unreached(began or found.raised): True,
            "The generator was run to its end.": ended_well,
            f"{found.lost}: what ran after that is not shown.": began and found.lost,
            interrupted(lines, "line"): self.is_cut,
            raised: found.raised and not (self._raised or self.is_cut),
            found.aside: bool(found.aside),
        }
        self.notes |= {words: is_so for words, is_so in told.items() if is_so}
        self._frame = None

    def _enter(self, frame, event, argument):
        if frame.f_code is self.fn.__code__ and self._frame in (None, frame):
            self._frame = frame
            return self._on_event
        return None

    def _on_event(self, frame, event, argument):
        if self._over or (event == "return" and suspends(frame)):
            return self._on_event
        if event == "exception":
            # An iterator tells by StopIteration that it is at its end, and a `for` takes it.
            loop = frame.f_code.co_code[frame.f_lasti] == opmap["FOR_ITER"]
            if not (loop and argument[0] is StopIteration):
                self._raised = short_name(argument[0].__name__)
        elif self._line or event == "line":
            returns = event == "return" and argument is not None
            value = returns and (library_value(argument) or short_repr(argument))
            ends = f", and the call returns {value}" if returns else ""
            self._step(self._look(frame), frame.f_lineno if event == "line" else 0, ends)
        if event == "line":
            self._line, self._raised = frame.f_lineno, ""
        return self._on_event

    def _look(self, frame) -> Mapping[str, object]:
        """Return the frame's variables, in the order in which they were bound."""
        found = local_variables(frame)
        known = [name for name in self._order if name in found]
        self._order = [*known, *(name for name in found if name not in known)]
        return {name: found[name] for name in self._order}

    def _step(self, names: Mapping[str, object], then: int, ends: str):
        if len(self.steps) > self._most:
            self._over, many = True, f"{self._most:,} lines that ran are shown"
            self.notes[f"Only the first {many} (most={2 * self._most} shows more)."] = True
            return
        place = self.source.place(self._line)
        words = f"{place} raised {self._raised}" if self._raised else f"after {place}{ends}"
        words = words if self._line else "the call begins"
        known = [name for name in names if not name.startswith("@")]  # pytest makes such names
        shown = [name for name in known if not name.startswith("_")]
        if len(shown) < len(known):
            self.notes["Names that begin with _ are not shown."] = True
        self._numbers.next_moment()
        graph = names_graph(names, shown, numbers=self._numbers, follow=follows)
        before = self._printed.total - len(self._printed.tail)
        printed = f"[{before:,} characters before these are not shown]\n" if before else ""
        names = Panel("names and objects", graph if graph.nodes else "none yet")
        panels = names, Panel("printed", printed + self._printed.tail)
        short = self.source.place(then) if then else "the end"
        self.steps.append(Step(words, self.source.line(then), panels, short=short))


def follows(value: object) -> bool:
    """Return whether what is in a value is drawn: in a container, and in what no library made."""
    if is_exactly(value, *FOLLOWED):
        return True
    if real_isinstance(value, type, ModuleType, enum.Enum):
        return False
    if type(value) is FunctionType:
        return not is_library(value.__code__.co_filename)
    return not of_library(type(value))


def _compare(step: Step, then: Step, calling: set[int]) -> dict[str, str]:
    """Return the sentence on what happens between two steps, and the lane.

    `calling`: the lines that call something.
    """
    (before, held), (after, holds) = _look(step), _look(then)
    parts = []
    for name, (key, words) in after.items():
        if name not in before:
            parts.append(f"makes {name} refer to {words}")
        elif before[name][0] != key:
            old = before[name][1]
            ways = f"one {old} to another" if old == words else f"{old} to {words}"
            parts.append(f"rebinds {name} from {ways}")
    parts += [f"unbinds {name}" for name in before if name not in after]
    referring, changed = {key: name for name, (key, _) in reversed(after.items())}, []
    for key in held.keys() & holds.keys():
        if held[key] != holds[key]:
            pairs = zip(held[key][:2], holds[key][:2], strict=True)
            words = next((f" ({old} → {new})" for old, new in pairs if old != new), "")
            what = f"what {referring[key]} refers to" if key in referring else "an object"
            changed.append(f"changes {what} in place{words}")
    parts += sorted(changed)
    lane = "store" if parts else "call" if step.line in calling else "operate"
    old, new = (one.panel("printed") for one in (step, then))
    if new != old:
        fresh = new.removeprefix(old) if new.startswith(old) else new
        parts.append(f"prints {clipped(repr(fresh.rstrip()), MOST_TOLD)}")
    if raised := then.label.partition(" raised ")[2]:
        parts.append(f"raises {raised}")
    says = ended("; ".join(parts) or "changes no name and no object that a name refers to")
    return {"says": says, "lane": "exception" if raised else lane}


def _look(step: Step) -> tuple[dict, dict]:
    """Return name -> key and words of what it refers to; object's key -> its words, its arrows."""
    graph = step.panel("names and objects")
    nodes = {node.key: node for node in graph.nodes} if type(graph) is Graph else {}
    boxes = [(key, node) for key, node in nodes.items() if node.kind != "name"]
    objects = {key: (node.detail, node.label, []) for key, node in boxes}
    names = {}
    for edge in graph.edges if nodes else ():
        if edge.source in objects:
            objects[edge.source][-1].append((edge.label, edge.target))
        else:
            names[nodes[edge.source].label] = edge.target, nodes[edge.target].label
    return names, objects
