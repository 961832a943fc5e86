"""A call under `torch.compile` -> Dynamo's translation, its breaks, their cures, its new code.

Each step is one instruction with the symbolic stack before it, the graph and the guards so far.
Mirrors torch/_dynamo/symbolic_convert.py, whose `step` translates one instruction, and
torch/_dynamo/convert_frame.py, where the new code object is made.
"""

import copy
import random
import re
import warnings
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import takewhile
from os.path import basename
from traceback import FrameSummary
from types import CodeType

import numpy as np

from ...internals import code_extras, torch_private
from ...model.code_records import Bytecode, columns
from ...model.phrase import counted, ended, interrupted, listed
from ...model.stage_records import Panel
from ...model.tables import Column, Entry, Ledger, Listing, Verdict
from ...model.torch_records import Break, BreakListing, DynamoRun, DynamoStep
from ...safety import progress
from ...safety.arguments import quote_value, real_isinstance, table
from ...safety.restoring import is_interrupted, note_interrupt, running_user_code
from ...safety.standard_output import redirected
from ...safety.users_frames import is_library
from ..cpython.bytecode import bytecode
from ..cpython.objects import named, names_used
from ..cpython.settrace import Printed
from ..cpython.unwrapping import COMPILED, Unwrapped, refuse_other_framework, to_run
from ..text import tensors
from ..text.error import error_message
from ..text.source import NOWHERE, Pages
from ..text.value import short_repr
from . import dynamo_recorder as words
from .dynamo_recorder import SO_FAR, Event, Record, record
from .guard_tree import behind, code_words

MOST_STEPS, MOST_GUARDS, MOST_SKIPPED = 400, 12, 3
RETURNED = "the function ends here: its graph goes to the backend"
AGAIN = "the same {} instructions again"
PUT_BACK = "{} instructions restore the stack and jump to where the code stopped"
OF_AN_INSTRUCTION = "opname", "argrepr", "stack", "made", "guarded"
TOLD = {
    "start over": "start over, and stop before this instruction",
    "break": "graph break",
    "given up": "given up, Python runs the whole function",
    "skipped": "nothing to compile, Python runs the function",
    "error": "Dynamo raises",
}
HEADED = {"place": "where", "code": "code", "cause": "cause", "explanation": "what Dynamo says"}
BREAK_COLUMNS = columns("code", **HEADED, effect="then")
TIMES = Column("count", "times")
QUALIFIED = re.compile(r"method: <Logger (\S+) \(\w+\)>\.(\w+)|\bqualname: ([\w.]+)")
TURNED_OFF = "Dynamo compiles nothing new while {} is set."
DISABLED = "torch.compiler.disable keeps Dynamo out of this function, so in your program Python "
DISABLED += "runs it. This is what Dynamo does without it."
FRESH = "This is a fresh compile. In your program "
BARRED = {  # by what torch decided about a code object earlier
    "SKIP": "Dynamo skips {}, because of an earlier call, such as one in a dispatch mode: Python "
    "runs it, compiled or not, until torch._dynamo.reset().",
    "RUN_ONLY": "Dynamo compiles {} no more, since it reached the recompile limit: Python runs the "
    "calls that fit no entry.",
}
UNCALLED = "No compiled function was called in the block."
BEFORE = (
    "Compiled functions were called in the block, but Dynamo translated nothing in it: what was "
)
BEFORE += "compiled or skipped before is not translated again."
OF_TORCH = ", the frame that torch puts around what it cannot start with"
WRAP = "inner", "external_utils.py"
SHARED = "In your program, torch.compile of this turns Dynamo off for all modules of torch.nn that "
SHARED += (
    "are compiled by themselves, until torch._dynamo.reset(), because they share the frame inner."
)
STUCK = "torch's evaluator of frames is in the interpreter's slot, as an error of torch leaves it; "
STUCK += "helpers.mini.frame_hook.put_back() takes it out."
BESIDE = (
    "Another thread used Dynamo during this run, so what Dynamo counts has both, and that thread "
)
BESIDE += "may compile again."
NOT_KNOWN = "Why Dynamo compiled nothing is not known: it broke no graph, and gave no reason for "
NOT_KNOWN += "a frame that it left to Python."
EXPLAINED = "torch._dynamo.explain reports {}: the number of graphs minus one."
NOT_WITH_YOURS = "Each graph ran as it is, as the backend eager runs it, and not with your backend."

MOST_SHOWN, MOST_CASES = 8, 200
MARKS = ("good", "fewer graph breaks than before"), ("failed", "changed by the cure")
HEADINGS = ("graphs before", "graphs after", "result", "gradient")
_PLAIN = (int, float, complex, bool, str, bytes, type(None))
Line = namedtuple("Line", "place words")  # of a panel


def dynamo_run(fn, /, *args, **kwargs) -> DynamoRun:
    """Run `fn(*args, **kwargs)` under torch.compile and step through Dynamo's translation of it."""
    return watched(fn, args, kwargs)[0]


def watched(fn, args=(), kwargs=None, verb="watch_compile", steps=MOST_STEPS, own_backends=True):
    """Return the run of `dynamo_run`, and its record. Without `steps`, graphs and breaks only."""
    inside, more = compilable(fn, verb, args), {"own_backends": own_backends}
    kept = record(inside.call, inside.function, args, kwargs, steps, **more)
    run = _Draft(kept, inside).run()
    told = " ".join(_told_outside(kept, fn))
    return replace(run, note="\n".join(filter(None, (run.note, told)))), kept


def compilable(fn, verb: str, args: tuple = ()) -> Unwrapped:
    """Return the Python function in a callable, and what to call; TypeError if there is none."""
    refuse_other_framework(fn, (), verb, "PyTorch")
    return to_run(fn, verb, args)


def breaks_listing(fn, /, *args, **kwargs) -> BreakListing:
    """Run `fn(*args, **kwargs)` under torch.compile and list its graph breaks: where, and why."""
    run, kept = watched(fn, args, kwargs, "watch_breaks", steps=0)
    inside = compilable(fn, "watch_breaks", args)
    note, explained = [], len(run.graphs) - 1
    if len(run.breaks) != explained:
        note += [EXPLAINED.format(explained)]
    if run.resumed:
        note += [f"It continued in {counted(len(run.resumed), 'resume function')}."]
    title = f"Graph breaks of {named(inside.function)}"
    note += [run.outcome, *inside.sentences, *_told_outside(kept, fn)]
    return _list_breaks(title, run.breaks, kept, note, run.outcome)


def _list_breaks(title, breaks, kept: Record, notes=(), outcome="", in_block=False) -> BreakListing:
    found, graphs, skipped = {}, len(kept.graphs), kept.skipped.items()
    for one in breaks:
        own = one.place, one.code, one.effect
        key = (one.inner * in_block or own), one.cause, one.explanation, one.given_up
        found.setdefault(key, []).append(one)
    rows = tuple(map(_merge, found.values()))
    merged = len(rows) < len(breaks)
    told = f", each translation counted, in {counted(len(rows), 'row')}" * merged
    note = [f"{counted(len(breaks), 'graph break')}{told}." if breaks else "No graph break."]
    note += [f"{counted(graphs, 'graph')}."]
    note += [f"Dynamo skipped {listed(map(': '.join, skipped), MOST_SKIPPED)}."] * bool(skipped)
    if not (breaks or graphs or skipped or in_block or kept.error or kept.turned_off):
        note.append(_why_nothing(kept))
    advice = dict.fromkeys(
        f"{b.cause}: {b.hint} {b.page}".rstrip() for b in breaks if b.hint or b.page
    )
    note = "\n".join(filter(None, (" ".join((*note, *notes)), *advice, _all_of_message(kept))))
    return BreakListing(title, BREAK_COLUMNS + (TIMES,) * merged, rows, note, graphs, outcome)


def _why_nothing(kept: Record) -> str:
    """Return why Dynamo compiled nothing, in its own words, or that it is not known."""
    told = [": ".join(filter(None, words.split_message(one))) for one in kept.unsupported]
    if told:
        return f"Dynamo gave up: {' '.join(map(ended, told))}"
    return NOT_KNOWN


def _all_of_message(kept: Record) -> str:
    """Return all that an error of the call says, where that is more than a sentence; else ""."""
    message = words.all_words(kept.error) if kept.error is not None else ""
    return f"The whole message:\n{message}" if message else ""


def _told_outside(kept: Record, fn) -> list[str]:
    """Return a sentence for each way in which Dynamo treats the program otherwise than this run."""
    told = [TURNED_OFF.format(kept.turned_off)] * bool(kept.turned_off)
    if torch_private.is_disabled(fn) and not kept.turned_off:
        told.append(DISABLED)
    told += [FRESH + _told_barred(code, action) for code, action in kept.barred]
    told += [SHARED] * any(map(_is_wrapper, kept.left_out))
    told += [STUCK] * kept.stuck + [BESIDE] * kept.beside
    return told


def _first(errors) -> list[str]:
    """Return the words of the first of these errors, if there is one."""
    return [error_message(error) for error in errors[:1]]


def _told_barred(code: CodeType, action: str) -> str:
    """Return in a sentence that Dynamo does not compile frames of this code."""
    name = f"{_name(code)}{words.in_file(code.co_filename, code.co_firstlineno)}"
    return BARRED[action].format(name + OF_TORCH * _is_wrapper(code))


def _is_wrapper(code: CodeType) -> bool:
    """Return whether it is the code that torch shares among all that Dynamo cannot start with."""
    return (code.co_name, basename(code.co_filename)) == WRAP


def _merge(same: list[Break]) -> Break:
    """Return one row for breaks of one line: that of the function itself, and all that call it."""
    first = next((one for one in same if ", in " not in one.place), same[0])
    _, *above = dict.fromkeys(one.place.partition(", in ")[0] for one in (first, *same))
    place = first.place + f", which also breaks {'; '.join(above)}" * bool(above)
    skipped, empty = max(one.skipped for one in same), all(one.empty for one in same)
    return replace(first, place=place, count=len(same), skipped=skipped, empty=empty)


class BreaksSeen:
    """List the graph breaks of everything that Dynamo translates in a `with` block."""

    unit = "graph break"  # what a row is

    def __init__(self):
        torch_private.needed("dynamo", "tracing")
        self._kept, self._called, self._lost = Record({}, 0), {}, []
        self._skipped: dict[int, str] = {}  # id of a code in `_called`, or of torch's -> the words
        self._kept.stuck = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Listen to Dynamo, and to calls of compiled functions."""
        called = torch_private.compiled_calls(self._note_call)
        skips = torch_private.hearing_skips(self._note_skip, [])
        with torch_private.translating(self._kept) as self._lost, called, skips:
            yield

    def _note_skip(self, code: CodeType, reason: str, is_start: bool) -> None:
        """Note why Dynamo left the first frame of a compiled call to Python."""
        if is_start:
            told = " ".join(words.same(reason).split())
            self._skipped.setdefault(id(code), f"Dynamo skipped {code_words(code)}: {told}.")

    def _note_call(self, fn) -> None:
        """Note the code that a call of a compiled function starts with; raise nothing in it."""
        with suppress(Exception):
            module = getattr(fn, "__self__", None)
            started = type(module).forward if hasattr(type(module), "forward") else fn
            code = getattr(started, "__func__", started).__code__
            self._called[id(code)] = code

    def _told(self) -> list[str]:
        """Return what the rows do not say: that nothing was called, or nothing is compiled."""
        kept, codes = self._kept, self._called.values()
        told = [TURNED_OFF.format(kept.turned_off)] * bool(kept.turned_off)
        own = [one for one in codes if _is_wrapper(one) or not is_library(one.co_filename)]
        for code, action in code_extras.barred(own):
            if id(code) not in self._skipped:  # else it was no earlier call
                told.append(_told_barred(code, action))
        if not (kept.events or kept.graphs):
            told += self._skipped.values()
        told += [f"Not all of it could be read on this torch ({e})." for e in _first(self._lost)]
        if not (told or kept.events or kept.graphs or kept.skipped):
            told.append(BEFORE if codes else UNCALLED)
        return told

    @property
    def model(self) -> BreakListing:
        """Return the breaks so far."""
        draft, title = _Draft(self._kept), "Graph breaks in the block"
        found = [event for event in self._kept.events if event.kind in ("break", "given up")]
        breaks = [draft._break(e, *words.why(e)) for e in found]
        return _list_breaks(title, breaks, self._kept, self._told(), in_block=True)


def rewritten(fn, /, *args, **kwargs) -> Bytecode:
    """Run `fn(*args, **kwargs)` under torch.compile and list the bytecode that Dynamo made."""
    inside, (function, told) = compilable(fn, "watch_rewriting", args), behind(fn)
    torch_private.needed("cache", "dynamo")
    # without it, no calls that only measure time
    with torch_private.config.patch(record_runtime_overhead=False):
        kept = record(inside.call, inside.function, args, kwargs, 0, function)
    if not kept.rewritten_as:
        why = "Python runs it as it is"
        if kept.error:
            message = words.all_words(kept.error)
            why = "\n".join(filter(None, (f"the call raised {error_message(kept.error)}", message)))
        elif kept.graphs:  # of a module of torch's own it starts further inside
            why = "what it compiled starts further inside; pass a function that calls it"
        raise ValueError(f"Dynamo made no new code for {named(function)}: {why}")
    code, left_out = kept.rewritten_as[0], ""
    listed = bytecode(code.replace(co_names=tuple(map(words.same, code.co_names))))
    kept_columns = [c for c in listed.columns if c.field not in ("where", "snippet")]
    if any(map(words.RESUME.match, code.co_names)):
        left_out = "The code of resume functions is left out; watch_compile steps through it."
    cut = _interruption(kept) if isinstance(kept.error, KeyboardInterrupt) else ""
    note = "\n".join(filter(None, (*told, cut, left_out, listed.note)))
    title = f"What Dynamo made of {named(function)}"
    return replace(listed, title=title, columns=tuple(kept_columns), note=note, cut=left_out)


def _interruption(kept: Record) -> str:
    """Return the sentence on an interrupt: after how much of Dynamo's work it came."""
    steps = sum(event.kind == "instruction" for event in kept.events)
    if steps:
        return interrupted(steps, "instruction")
    return interrupted(len(kept.graphs), "graph")


class _Draft:
    """A record on its way to steps."""

    def __init__(self, kept: Record, inside: Unwrapped | None = None):
        self.kept, self.pages = kept, Pages()
        if inside:
            self.function, self._peeled = inside.function, inside.sentences
            self.pages.place(self.function.__code__)
        self.breaks: list[Break] = []
        self.resumed: dict[CodeType, str] = {}

    def run(self) -> DynamoRun:
        kept, steps = self.kept, tuple(self._steps())
        raised = kept.error and f"raised {error_message(kept.error)}"
        outcome = ended(f"The call {raised or f'returned {short_repr(kept.value)}'}")
        if isinstance(kept.error, KeyboardInterrupt):
            if not (kept.events or kept.graphs):
                raise kept.error
            outcome = _interruption(kept)
        numbers = counted(len(kept.graphs), "graph"), counted(len(self.breaks), "graph break")
        note = [f"{', '.join(numbers)}.", outcome, *self._peeled]
        if not kept.events and not kept.graphs:
            note.insert(0, "Dynamo translated none of its instructions. Python ran it unchanged.")
        if kept.lost:
            note.append(f"Not all of it could be read on this torch ({kept.lost}).")
        if kept.elsewhere:
            note.append("Instructions of other modules' functions are not shown.")
        if kept.cut_off:
            note.append("Only the first instructions are shown.")
        note = "\n".join(filter(None, (" ".join(note), _all_of_message(kept))))
        more = {"graphs": tuple(kept.graphs), "resumed": tuple(self.resumed.values())}
        more["places"] = tuple(self.pages.places)
        more |= {"breaks": tuple(self.breaks), "printed": kept.printed.text(), "outcome": outcome}
        where = self.pages.place(self.function.__code__)[0].where
        title = f"Dynamo translates {named(self.function)}{where}"
        return DynamoRun(title, self.pages.text, steps, note, **more)

    def _steps(self):
        events, position, tried = self.kept.events, 0, []
        while position < len(events):
            event, rest = events[position], events[position:]
            if event.kind != "instruction":
                # After a restart Dynamo translates again what it had done: shown as one step.
                tried = events[:position][::-1] if event.kind == "start over" else []
                tried = [*takewhile(lambda one: one.kind == "instruction", tried)][::-1]
                yield self._happened(event)
                position += 1
                continue
            count, label = _count_repeated(rest, tried), AGAIN
            if not count:
                count, label = _count_prologue(rest), PUT_BACK
            if count:
                made = tuple(made for event in rest[:count] for made in event.made)
                guarded = tuple(guard for event in rest[:count] for guard in event.guarded)
                more = {"lane": _lane(made, guarded), "made": made, "guarded": guarded}
                last, more["panels"] = rest[count - 1], self._so_far(rest[count - 1])
                yield self._step(last, label.format(count), kind="again", **more)
            else:
                yield self._instruction(event)
            position, tried = position + max(count, 1), []

    def _step(self, event, label: str, **more) -> DynamoStep:
        who, name = self._who(event.code), _name(self.function.__code__)
        prefix = "" if who == name else f"{who.removeprefix(f'{name}, ')} · "
        line = self._line(event.code, event.lineno)
        return DynamoStep(f"{prefix}{label}", line, function=who, **more)

    def _instruction(self, event: Event) -> DynamoStep:
        told = words.split_message(event.failed)[0]
        cause = f"cannot be translated: {told}" if event.failed else ""
        name = f"{event.opname} {event.argrepr}".rstrip()
        label = f"{event.offset} {name}" if event.offset >= 0 else name  # Dynamo put the others in
        lane = "break" if cause else _lane(event.made, event.guarded)
        fields = {one: getattr(event, one) for one in OF_AN_INSTRUCTION}
        panels = _panel("symbolic stack", "value", event.stack), *self._so_far(event)
        more = {"span": self._span(event), "says": words.does(event, cause), "panels": panels}
        label = f"{label} · {cause}" if cause else label
        return self._step(event, label, lane=lane, short=name, **more, **fields)

    def _happened(self, event: Event) -> DynamoStep:
        label, ending, lane = event.words or RETURNED, "", "hand over"
        if event.kind not in ("graph", "code"):
            cause, ending = words.why(event)
            label, lane = f"{TOLD[event.kind]}: {cause}", "break"
            if event.kind in ("break", "given up"):
                self.breaks.append(self._break(event, cause, ending))
        panels = [Panel("why", ending)] * bool(ending)
        if event.kind in ("break", "graph"):
            panels.append(Panel("the graph passed to the backend", event.graph))
        more = {"says": ending, "lane": lane, "kind": event.kind, "ending": ending}
        return self._step(event, label, panels=tuple(panels), **more)

    def _break(self, event: Event, cause: str, why: str) -> Break:
        hint = " ".join(map(ended, words.parts_of(event.cause, "Hint")))
        page = event.cause.partition(words.LINK)[2].split()[:1]
        line, where = self._line(event.code, event.lineno), ""
        code = self.pages.text.split("\n")[line - 1].strip() if line else ""
        if event.lineno:
            home = torch_private.resumed_from(event.code)
            where = f"{_name(home)}, line {event.lineno - home.co_firstlineno + 1}"
            where += words.in_file(home.co_filename, event.lineno)
            where += _inside(event.inner, home.co_filename, event.lineno)
        inner = event.inner or FrameSummary(event.code.co_filename, event.lineno, "")
        inner = f"{words.same(inner.filename)}:{inner.lineno} {inner.line}" * bool(event.lineno)
        if (named := QUALIFIED.search(event.cause)) and named[named.lastindex] not in why:
            why += f" It calls {'.'.join(filter(None, named.groups()))}."
        who, given_up = self._who(event.code), event.kind == "given up"
        rest = words.RESTS.get(torch_private.resumed_from(event.code), {}).get(event.lineno, "")
        more = {"hint": hint, "page": "".join(page), "empty": event.empty, "skipped": rest}
        more["raises"] = event.raises
        return Break(who, line, code, cause, why, given_up, where, inner=inner, **more)

    def _so_far(self, event: Event) -> tuple[Panel, Panel]:
        graph = Panel(SO_FAR, event.graph if event.graph.nodes else "empty")
        return graph, _panel("guards so far", "newest first", words.group_guards(event.guards))

    def _line(self, code: CodeType, lineno: int) -> int:
        return self.pages.line(torch_private.resumed_from(code), lineno)

    def _span(self, event: Event) -> tuple[int, int, int, int]:
        source, above = self.pages.place(torch_private.resumed_from(event.code))
        line, column, end, end_column = source.span(event.positions)
        return (above + line, column, above + end, end_column) if line else NOWHERE

    def _who(self, code: CodeType) -> str:
        _, lineno = words.resumed(code.co_name)
        name = _name(torch_private.resumed_from(code))
        if not lineno:
            return name
        line = self._line(code, lineno)
        where = f"line {self.pages.number(line)}" if line else f"line {lineno} of its file"
        self.resumed[code] = f"{name}, resumed after {where}"
        return self.resumed[code]


def _name(code: CodeType) -> str:
    """Return the name of a function with the class that contains it."""
    return code.co_qualname.rpartition("<locals>.")[2]


def _inside(frame, path: str, lineno: int) -> str:
    """Return where inside a called function a break comes from, such as `, in f (a.py:3)`."""
    if frame is None or (frame.filename, frame.lineno) == (path, lineno):
        return ""
    line = (frame.line or "").strip()
    place = words.in_file(frame.filename, frame.lineno) or f" at `{line}`" * bool(line)
    return f", in {words.resumed(frame.name)[0]}{place}"


def _lane(made, guarded) -> str:
    return "graph" if made else "guard" if guarded else "stack"


def _panel(title: str, heading: str, lines) -> Panel:
    """Return lines as a panel, the last one first; of guards only the last ones."""
    rows, note = [Line(str(n), line) for n, line in enumerate(lines, 1)], "" if lines else "empty"
    shown = columns("words", place="place", words=heading)
    if heading != "value":
        shown = shown[1:]
        if before := rows[:-MOST_GUARDS]:
            rows = rows[-MOST_GUARDS:]
            note = f"Earlier steps show the {len(before):,} lines before these."
    rows.reverse()
    return Panel(title, Listing(title, shown, tuple(rows), note))


def _count_repeated(events, tried) -> int:
    """Return how many instructions repeat the try before, without the one that it stops at."""
    pairs = zip(events, tried, strict=False)
    same = [(e.kind, e.code, e.offset) == (b.kind, b.code, b.offset) for e, b in pairs]
    count = [*same, False].index(False)
    stops = count < len(events) and events[count].kind != "instruction"
    return count - 1 if count and stops else count


def _count_prologue(events) -> int:
    """Return how many instructions from here on are the prologue of a resume function."""
    code = events[0].code
    if events[0].offset or not words.resumed(code.co_name)[1]:
        return 0
    own = [*takewhile(lambda e: e.kind == "instruction" and e.code is code, events)]
    last = max((n for n, event in enumerate(own) if event.prologue), default=-1)
    jumps = last + 1 < len(own) and own[last + 1].opname.startswith("JUMP")
    return last + 1 + (last >= 0 and jumps)


# ------------------------------------------------------------------ breaks and their cures


def cures_ledger(cases, /, *args) -> Ledger:
    """Compile each case and its cure for the same arguments, and show graphs before and after."""
    found = table(cases, "watch_fixes", "name -> (function, cured function)", MOST_CASES)
    for name, pair in found:
        if not real_isinstance(pair, tuple, list) or len(pair) != 2:
            raise TypeError(f"case {quote_value(name)} needs a pair: (function, cured function)")
        for fn in pair:
            compilable(fn, "watch_fixes")
    entries, notes, backends = [], [], []
    for case in progress.counted("compiling case", found):
        try:
            entries.append(_entry(*case, args, backends))
        except KeyboardInterrupt as error:
            if not entries:
                raise
            note_interrupt(error)
            notes.append(interrupted(len(entries), "case"))
            break
    if setting := torch_private.turned_off():
        notes.insert(0, TURNED_OFF.format(setting))
    if any(backends):
        notes.append(NOT_WITH_YOURS)
    title = "Graph breaks and their cures"
    return Ledger(title, "case", HEADINGS, tuple(entries), " ".join(notes), marks=MARKS)


class _Trials:
    """Runs of a case and its cure, each from the same random numbers and buffers of modules."""

    def __init__(self, pair, args):
        self.pair, self.args = pair, args
        self._runs = [0, 0]  # of the case, of the cure
        self._set_back = [same_random_numbers(), *map(same_buffers, pair)]

    def set_back(self) -> None:
        """Set random numbers and buffers back to where they were at first."""
        for undo in self._set_back:
            undo()

    def run(self, at: int, run: Callable):
        """Return what a run of the case (0) or of the cure (1) gives."""
        self.set_back()
        self._runs[at] += 1
        found = run(self.pair[at])
        if is_interrupted():
            raise KeyboardInterrupt
        return found

    def run_both(self, run: Callable) -> list:
        """Return what a run of the case gives, and one of the cure."""
        return [self.run(at, run) for at in (0, 1)]

    def tell_varying(self, run: Callable, found: list, what: str) -> str:
        """Say of what differs that a function by itself gives others from call to call; "" if not.

        Each function runs twice more, plainly.
        """
        again = [[self.run(at, run), self.run(at, run)] for at in (0, 1)]
        for at, who in enumerate(("the case", "the cure")):
            if any(compared(found[at], other) is False for other in again[at]):
                times = f"it ran {self._runs[at]} times here, and what it changed stays changed"
                return f"{who} by itself {what} from call to call; {times}"
        return ""


def _entry(name, pair, args, backends: list[bool]) -> Entry:
    """Return the row on a case and its cure.

    `backends` grows by whether a backend of the user's would have been called in their place.
    """
    trials = _Trials(pair, args)
    try:
        return _compare(name, trials, args, backends)
    finally:
        trials.set_back()


def _compare(name, trials: _Trials, args, backends: list[bool]) -> Entry:
    """Run the case and the cure, compiled and plainly, and return the row on them."""

    def watch(fn):
        run, kept = watched(fn, copied(args), None, "watch_fixes", 0, own_backends=False)
        is_compiled = COMPILED in compilable(fn, "watch_fixes").sentences
        backends.append(is_compiled or kept.without_own_backend)
        return run, kept

    (before, _), (after, kept) = trials.run_both(watch)
    result, why, comparable = _compare_results(trials, kept, args)
    gradient = Verdict("not compared")
    if comparable:
        gradient, varying = _compare_gradients(trials, args)
        why = why or varying
    fewer = len(after.breaks) < len(before.breaks)
    graphs = [
        Verdict(f"{len(run.graphs)}{', given up' * any(b.given_up for b in run.breaks)}", tone)
        for run, tone in ((before, "plain"), (after, "good" if fewer else "plain"))
    ]
    causes = [*dict.fromkeys(found.cause for found in before.breaks)] or ["it does not break"]
    causes += ["the cure has a different gradient"] * (gradient.word == "differs")
    return Entry(name, (*graphs, result, gradient), why or "; ".join(causes))


def _compare_results(trials: _Trials, kept: Record, args) -> tuple[Verdict, str, bool]:
    """Return the verdict on the results, why, and whether gradients can be compared."""

    def run_plainly(fn):
        return _run_quietly(_plain(fn), args)

    wanted, plain = trials.run_both(run_plainly)
    compiled = kept.value if kept.error is None else kept.error
    made = {"the cure": plain, "compiled, the cure": compiled}
    same = {who: compared(wanted, value) for who, value in made.items()}
    if who := next((who for who, verdict in same.items() if verdict is False), ""):
        found = [wanted, plain]
        if varying := trials.tell_varying(run_plainly, found, "returns other values"):
            return Verdict("not compared"), varying, False
        why = f"{who} returns {_value_words(made[who])}, the case {_value_words(wanted)}"
        return Verdict("differs", "failed"), why, False
    if None in same.values():
        return Verdict("not compared"), "only the results' own code can compare them", False
    return Verdict("same"), "", True


def _compare_gradients(trials: _Trials, args) -> tuple[Verdict, str]:
    """Return the verdict on the gradients, and why they are not compared."""

    def find_slopes(fn):
        return _run_quietly(lambda *new: _gradients(_plain(fn), new), args)

    slopes = trials.run_both(find_slopes)
    if any(real_isinstance(found, BaseException) for found in slopes):
        return Verdict("not compared"), ""
    if all(found is None for pair in slopes for found in pair):
        return Verdict("none"), ""
    if compared(*slopes):
        return Verdict("same"), ""
    if varying := trials.tell_varying(find_slopes, slopes, "has another gradient"):
        return Verdict("not compared"), varying
    return Verdict("differs", "failed"), ""


def _plain(fn) -> Callable:
    """Return what a compiled function was made of: its plain run calls no backend."""
    return compilable(fn, "watch_fixes").call


def _gradients(fn, copies) -> tuple:
    """Return a gradient, or None, per plain floating tensor of the arguments."""
    import torch

    plain = [one for one in copies if type(one) is torch.Tensor and one.is_floating_point()]
    asked = [tensor.requires_grad_() for tensor in plain]
    with torch.enable_grad():
        value = fn(*copies)
        if not asked or type(value) is not torch.Tensor or not value.requires_grad:
            return (None,) * len(asked)
        weights = torch.arange(1, value.numel() + 1).reshape(value.shape).to(value)
        return torch.autograd.grad(value, asked, weights, allow_unused=True)


def _run_quietly(fn, args):
    """Return what plain Python returns, or raises, for copies of `args`; nothing is printed."""
    eagerly = torch_private.compiling_nothing()
    with redirected(Printed()), warnings.catch_warnings(), eagerly:
        warnings.simplefilter("ignore")
        try:
            with running_user_code():
                return fn(*copied(args))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error


def _value_words(value) -> str:
    if real_isinstance(value, BaseException):
        message = " ".join(words.all_words(value).split())
        return f"{type(value).__name__}: {message}" if message else error_message(value)
    if tensors.is_tensor(value) and tensors.has_its_elements(value) and value.numel() <= MOST_SHOWN:
        value = value.double().round(decimals=3) if value.is_floating_point() else value
        return short_repr(value.tolist())
    return short_repr(value)


# ------------------------------------------------------------------ several runs of one program


def copied(values: tuple) -> tuple:
    """Return copies of arguments, as each run gets its own; TypeError for what has no copy."""
    values = [
        value.detach().requires_grad_()
        if tensors.is_tensor(value) and value.requires_grad and not value.is_leaf
        else value
        for value in values
    ]
    try:
        return tuple(copy.deepcopy(values))
    except Exception as error:
        raise TypeError(f"each run needs copies of the arguments: {error_message(error)}") from None


def compared(one, other) -> bool | None:
    """Return whether two results are the same, nearly; None where only their code could tell."""
    import torch

    if type(one) is not type(other):
        return False
    if real_isinstance(one, BaseException):
        return error_message(one) == error_message(other)
    if tensors.is_tensor(one):
        if tensors.words(one) != tensors.words(other):
            return False
        if not tensors.has_its_elements(one) or not tensors.has_its_elements(other):
            return one is other or None
        close = one.is_floating_point() or one.is_complex()
        return torch.allclose(one, other, equal_nan=True) if close else torch.equal(one, other)
    if type(one) is dict and one.keys() == other.keys():
        one, other = [*one.values()], [other[key] for key in one]
    if real_isinstance(one, list, tuple, dict):
        if real_isinstance(one, dict) or len(one) != len(other):
            return False
        found = [a is b or compared(a, b) for a, b in zip(one, other, strict=True)]
        return False if False in found else None if None in found else True
    if type(one) not in _PLAIN:
        return one is other or None
    return one == other or (one != one and other != other)


def same_random_numbers() -> Callable[[], object]:
    """Return what sets Python's, NumPy's and torch's own generators back to where they are now."""
    import torch

    states = (random.setstate, random.getstate()), (np.random.set_state, np.random.get_state())
    states += ((torch.set_rng_state, torch.get_rng_state()),)
    return lambda: [set_back(state) for set_back, state in states]


def same_buffers(fn) -> Callable[[], None]:
    """Return what gives the buffers of the modules that a function uses their values of now."""
    import torch

    kept = []
    for buffer in _buffers_used(fn):
        with suppress(Exception):  # it has no elements yet, or a mode of the program's refuses
            kept.append((buffer, buffer.detach().clone()))

    def set_back():
        with torch.no_grad(), suppress(Exception):
            for buffer, before in kept:
                if not torch.equal(buffer, before):
                    buffer.copy_(before)

    return set_back


def _buffers_used(fn) -> list:
    """Return the buffers of each module that is, owns, or is named in, the function in `fn`."""
    import torch

    function = compilable(fn, "watch_fixes").function
    found = [fn, getattr(fn, "func", None), getattr(function, "__self__", None)]
    function = getattr(function, "__func__", function)
    found += [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    found += [function.__globals__.get(name) for name in names_used(function.__code__)]
    modules = [one for one in found if real_isinstance(one, torch.nn.Module)]
    buffers = {id(buffer): buffer for module in modules for buffer in module.buffers()}
    return [*buffers.values()]


def _is_filled(cell) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
