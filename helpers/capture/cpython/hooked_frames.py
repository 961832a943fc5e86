"""PEP 523: what evaluates the frames of a function, and which frames the frame hook receives."""

import gc
import sys
from collections import namedtuple
from dataclasses import dataclass, replace
from itertools import islice
from types import CodeType, FunctionType

from ...mini import frame_hook
from ...model.code_records import columns
from ...model.framework_records import together
from ...model.graphs import Edge, Graph, Node
from ...model.phrase import counted, ended, interrupted
from ...model.tables import Listing
from ...safety.arguments import is_exactly, real_isinstance, real_type_name
from ...safety.dynamo_aside import leave_to_python
from ...safety.restoring import note_end, note_interrupt
from ..text.error import error_message
from ..text.value import plain, short_repr
from .objects import code_of, function_of, named
from .unseen_frames import Unseen
from .unwrapping import behind, to_run, unwrap

MOST_ROWS, MOST_ARGUMENTS = 60, 8
DEEPEST = 20  # marks of indentation
OF_TRACERS = "of your tracer (sys.settrace) or profiler (sys.setprofile), "
OF_TRACERS += "which also hears frames of this verb"

# One frame: its place in the run, how deep it lay, its code, its arguments, its count.
FrameSeen = namedtuple("FrameSeen", "order depth name code line arguments nth")


@dataclass(frozen=True)
class FramesSeen(Listing):
    """The frames of a run; those that are not shown are counted too."""

    counts: tuple[tuple[str, int], ...] = ()

    def count(self, name: str) -> int:
        """Return how many frames of code objects of this name ran, 0 if none did."""
        return sum(many for told, many in self.counts if told == name)


def evaluator_graph(fn) -> Graph:
    """Return the way from a call of `fn` to the evaluator of now (`pycore_ceval.h`)."""
    fn, peeled = unwrap(fn)
    function, _ = function_of(fn, "show_evaluator")
    name, code = named(function), function.__code__
    places = len(code.co_varnames) + len(code.co_cellvars) + len(code.co_freevars)
    room = f"{counted(places, 'variable')}, stack of {code.co_stacksize}"
    units = f"{len(code.co_code) // 2} code units"
    made, frame = f"code of {plain(code.co_name)}", f"frame of {plain(code.co_name)}"
    nodes = [
        Node("call", f"{name}(…)", "site", "a call"),
        Node("function", name, "function", "function: code, globals, defaults, cells"),
        Node("code", made, "code", units),
        Node("frame", frame, "frame", room),
    ]
    edges = [Edge("call", "function", "calls"), Edge("function", "code", "__code__")]
    edges += [Edge("call", "frame", "makes"), Edge("frame", "code", "runs")]
    before, label = "frame", "goes to"
    for place, one in enumerate(frame_hook.installed()):
        key = f"evaluator {place}"
        nodes.append(Node(key, one.name, "function", one.owner))
        edges.append(Edge(before, key, label))
        before, label = key, "goes on to"
    title = f"Who evaluates a frame of {name} now"
    return Graph(title, tuple(nodes), tuple(edges), " ".join(peeled))


def evaluators_compared(fn, before: Graph) -> Graph:
    """Return the picture of an earlier moment and that of this one; what is new is marked +."""
    if not real_isinstance(before, Graph):
        raise TypeError(f"before must be a result of show_evaluator, not {real_type_name(before)}")
    function, _ = function_of(unwrap(fn)[0], "show_evaluator")
    now, known = evaluator_graph(fn), {(node.label, node.detail) for node in before.nodes}
    new = [node for node in now.nodes if (node.label, node.detail) not in known]
    marks = {n.key: replace(n, label=f"+ {n.label}", kind=f"{n.kind} new") for n in new}
    nodes = tuple(marks.get(node.key, node) for node in now.nodes)
    moments = {"before": before, "now": replace(now, nodes=nodes)}
    note = "+ marks what is new." if new else ""
    return together(f"Who evaluates a frame of {named(function)}", moments, note)


def hooked_listing(fn, /, *args, only=None, **kwargs) -> FramesSeen:
    """Run `fn(*args, **kwargs)` under the frame hook, and list the frames that reach the hook."""
    function, peeled, call = to_run(fn, "watch_hooked", args)
    several = only if is_exactly(only, list, tuple, set, frozenset) else [only]
    wanted = own_codes(function) if only is None else several
    codes = [code_of(unwrap(one)[0], "only of watch_hooked") for one in wanted]
    given = [*(("", value) for value in args), *kwargs.items()]
    said = f"{named(function)}({_list_some(given, len(given))})"
    title = f"Frames passed to the hook while {said} ran"
    del given
    rows, counts, ending, interrupt, unseen = [], {}, "", None, Unseen()
    frames_of_tracers = 0
    base = id(sys._getframe())  # a variable that refers to its own frame would be in a cycle

    def note(code: CodeType, values: tuple) -> None:
        """Write one frame down; the callback's caller is the frame that makes the call."""
        nonlocal frames_of_tracers
        if only is None and _is_of_tracer(code, sys._getframe(1), base):
            frames_of_tracers += 1
            return
        name, nth = counts.get(id(code), (code.co_name, 0))
        counts[id(code)] = name, nth + 1
        if len(rows) >= MOST_ROWS:
            return
        depth, frame = 0, sys._getframe(1)  # of the frames below, watched or not
        while frame is not None and id(frame) != base:
            depth, frame = depth + 1, frame.f_back
        words = _list_some(zip(code.co_varnames, values, strict=False), len(values))
        own, line = plain(code.co_name), code.co_firstlineno
        marked = "· " * min(depth, DEEPEST) + own
        rows.append(FrameSeen(len(rows) + 1, depth, own, marked, line, words, nth + 1))

    leave_to_python(note)
    try:
        with unseen.noticing(), frame_hook.watching(note, only=codes):
            try:
                call(*args, **kwargs)
            except Exception as error:
                ending = f" {ended(f'It raised {error_message(error)}')}"
                note_end(error)
    except KeyboardInterrupt as error:
        interrupt = error
    except BaseException as error:
        ending = f" {ended(f'It raised {error_message(error)}')}"
        note_end(error)
    total = sum(many for _, many in counts.values())
    if interrupt is not None:
        if not total:
            raise interrupt
        note_interrupt(interrupt)
        ending = f" {interrupted(total, 'frame')}"
    words = f"{counted(total, 'frame')} of {counted(len(counts), 'code object')}.{ending}"
    if frames_of_tracers:
        words += f" Not shown: {counted(frames_of_tracers, 'frame')} {OF_TRACERS}."
    words = " ".join((*peeled, words, unseen.words())).rstrip()
    if total > len(rows):
        words += f" Only the first {len(rows)} are shown. Use `only` to choose functions."
    headings = {"order": "order", "depth": "depth", "code": "code object", "line": "its first line"}
    headings |= {"arguments": "arguments in the frame", "nth": "frames of this code so far"}
    shown = columns("code arguments", **headings)
    return FramesSeen(title, shown, tuple(rows), words, tuple(counts.values()))


def _is_of_tracer(code: CodeType, caller, base: int) -> bool:
    """Return whether a new frame, below `caller`, is of a tracer or a profiler, or of its callee.

    CPython calls a tracer as if the frame that it reports had called it. `base`: the id of the
    frame at which to stop.
    """
    set_now = [tracer for tracer in (sys.gettrace(), sys.getprofile()) if tracer is not None]
    if not set_now:
        return False
    codes = {id(tracer): _code_of_tracer(tracer) for tracer in set_now}
    while caller is not None:
        of_frame = caller.f_trace
        if id(of_frame) not in codes:
            codes[id(of_frame)] = _code_of_tracer(of_frame)
        of_caller = *map(id, set_now), id(of_frame)
        if any(codes[tracer] is code for tracer in of_caller):
            return True
        if id(caller) == base:
            break
        code, caller = caller.f_code, caller.f_back
    return False


def _code_of_tracer(tracer) -> CodeType | None:
    """Return the code that a call of a tracer runs, None of one that is written in C."""
    function = None if tracer is None else behind(tracer)
    return None if function is None else function.__code__


def own_codes(function: FunctionType) -> list[CodeType]:
    """Return the code objects of the function and of all others that have its globals."""
    space, found = function.__globals__, {}
    alive = (thing for thing in gc.get_objects() if type(thing) is FunctionType)
    pending = [function.__code__, *(one.__code__ for one in alive if one.__globals__ is space)]
    while pending:
        code = pending.pop()
        found[id(code)] = code
        pending += [c for c in code.co_consts if type(c) is CodeType and id(c) not in found]
    return list(found.values())


def _list_some(pairs, count: int) -> str:
    few = islice(pairs, MOST_ARGUMENTS)
    words = [f"{plain(name)}={short_repr(value)}".removeprefix("=") for name, value in few]
    more = [f"… {count - len(words)} more"] if count > len(words) else []
    return ", ".join([*words, *more])
