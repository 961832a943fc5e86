"""One call of a function under `torch.compile` -> Dynamo's translation of it, to step through.

Each step is one instruction with the symbolic stack before it, the graph and the guards so far.
Mirrors torch/_dynamo/symbolic_convert.py, whose `step` translates one instruction.
"""

from dataclasses import dataclass, replace
from types import CodeType

from helpers.capture.cpython.objects import LONGEST_NAME, function_of, named, refuse_async
from helpers.capture.cpython.unwrapping import Unwrapped, opened
from helpers.capture.text.error import said
from helpers.capture.text.source import NOWHERE, Pages
from helpers.capture.text.value import brief
from helpers.capture.torch import dynamo_words as words
from helpers.capture.torch.cache_entries import refuse_tensorflow
from helpers.capture.torch.dynamo_recorder import SO_FAR, Happened, Instruction, Record, record
from helpers.internals import torch_private
from helpers.model.dynamo import Break, DynamoRun, DynamoStep
from helpers.model.graph import Graph
from helpers.model.listing import Column, Listing
from helpers.model.phrase import counted, ended
from helpers.model.timeline import Panel
from helpers.safety.arguments import printable

MOST_STEPS, MOST_GUARDS = 400, 12
RETURNED = "the function ends here: its graph goes to the backend"


@dataclass(frozen=True)
class Line:
    """One line of a panel."""

    place: str
    words: str


def dynamo_run(fn, *args, **kwargs) -> DynamoRun:
    """Return a step per instruction that Dynamo translates while `fn(*args, **kwargs)` runs.

    `fn`: a Python function, or a callable with one inside, such as an nn.Module; it is compiled
    here with a backend that runs each graph as it is; what Dynamo had compiled before is dropped.
    Followed are the functions of the same module. What `fn` raises is part of the record.

    Raises:
        TypeError: there is no Python function to translate.
        RuntimeError: torch is missing, or does not have what this reads.
    """
    return watched(fn, args, kwargs)[0]


def watched(
    fn, args=(), kwargs=None, verb: str = "watch_compile", steps: int = MOST_STEPS
) -> tuple[DynamoRun, Record]:
    """Return the run of `dynamo_run` and the record it was made of, with the value returned.

    Without `steps` the run has the graphs and the breaks only, and is quicker.
    """
    inside = compilable(fn, verb, args)
    kept = record(inside.call, inside.function, args, kwargs, steps)
    return _Draft(kept, inside).run(), kept


def compilable(fn, verb: str, args: tuple = ()) -> Unwrapped:
    """Return the function that `args` lead to, and what to call; TypeError if there is none."""
    refuse_tensorflow(fn, verb)
    inside = opened(fn, args)
    function = function_of(inside.function, verb)[0]
    refuse_async(function, verb)
    return inside._replace(function=function)


class _Draft:
    """A record on its way to steps."""

    def __init__(self, kept: Record, inside: Unwrapped):
        self.kept, self.function, self._peeled = kept, inside.function, inside.sentences
        self.pages = Pages()
        self.pages.place(self.function.__code__)
        self.breaks: list[Break] = []
        self.resumed: dict[CodeType, str] = {}
        broken = (e for e in kept.events if getattr(e, "kind", "") in ("break", "given up"))
        self._met = {(e.code.co_filename, e.lineno) for e in broken}
        self._graph, self._guards = Graph(SO_FAR, (), ()), []

    def run(self) -> DynamoRun:
        """Return the finished run."""
        steps = tuple(self._steps())
        return DynamoRun(
            f"Dynamo translates {named(self.function)}",
            self.pages.text,
            steps,
            self._note(),
            breaks=tuple(self.breaks),
            graphs=tuple(self.kept.graphs),
            resumed=tuple(self.resumed.values()),
            outcome=self._outcome(),
            printed=self.kept.printed.text(),
        )

    def _steps(self):
        events, position, tried = self.kept.events, 0, []
        while position < len(events):
            event = events[position]
            if isinstance(event, Happened):
                # After a restart Dynamo translates again what it had done: shown as one step.
                tried = _places(events[:position]) if event.kind == "start over" else []
                position += 1
                yield self._happened(event)
                continue
            count = _repeated(events[position:], tried) if tried else 0
            count, words_ = (count, AGAIN) if count else (_prologue(events[position:]), PUT_BACK)
            tried = []
            if count:
                yield self._folded(events[position : position + count], words_)
            else:
                after = events[position + 1] if position + 1 < len(events) else None
                yield self._instruction(event, after if isinstance(after, Instruction) else None)
            position += max(count, 1)

    def _instruction(self, event: Instruction, after: Instruction | None) -> DynamoStep:
        who = self._who(event.code)
        cause = f"cannot be translated: {words.message(event.failed)[0]}" if event.failed else ""
        # A guard list only grows within an attempt: an event keeps its length, not a copy.
        self._graph, self._guards = event.graph, event.guards[: event.guard_count]
        stack = _listing("symbolic stack", event.stack, "value")
        offset = f"{event.offset} " if event.offset >= 0 else ""  # Dynamo has put the others in
        label = f"{self._prefix(who)}{offset}{event.opname} {event.argrepr}".rstrip()
        return DynamoStep(
            f"{label} · {cause}" if cause else label,
            self._line(event.code, event.lineno),
            (stack, *self._panels()),
            span=self._span(event),
            says=words.does(event, after, cause),
            lane="break" if cause else words.lane(event.made, event.guarded),
            short=f"{event.opname} {event.argrepr}".rstrip(),
            function=who,
            opname=event.opname,
            argrepr=event.argrepr,
            stack=event.stack,
            made=event.made,
            guarded=event.guarded,
        )

    def _folded(self, events, words_: str) -> DynamoStep:
        last = events[-1]
        self._graph, self._guards = last.graph, last.guards[: last.guard_count]
        who = self._who(last.code)
        made = tuple(made for event in events for made in event.made)
        guarded = tuple(guard for event in events for guard in event.guarded)
        label = f"{self._prefix(who)}{words_.format(len(events))}"
        line = self._line(last.code, last.lineno)
        return DynamoStep(
            label,
            line,
            self._panels(),
            lane=words.lane(made, guarded),
            kind="again",
            function=who,
            made=made,
            guarded=guarded,
        )

    def _happened(self, event: Happened) -> DynamoStep:
        label, ending = self._told(event)
        who = self._who(event.code)
        panels = [Panel("why", ending)] if ending else []
        graph = event.graph or self._graph
        if event.kind in ("break", "graph"):
            panels.append(Panel("the graph that is handed over", graph))
        line = self._line(event.code, event.lineno)
        return DynamoStep(
            f"{self._prefix(who)}{label}",
            line,
            tuple(panels),
            says=ending,
            lane="hand over" if event.kind in ("graph", "code") else "break",
            kind=event.kind,
            function=who,
            ending=ending,
        )

    def _told(self, event: Happened) -> tuple[str, str]:
        """Return the label of what happened, and Dynamo's explanation of it."""
        if event.kind == "graph":
            return RETURNED, ""
        if event.kind == "code":
            return self._rewritten(event), ""
        cause, why = words.message(event.words)
        if event.kind in ("break", "given up"):
            self._broken(event, cause, why)
        return f"{_TOLD[event.kind]}: {cause}", why

    def _broken(self, event: Happened, cause: str, why: str) -> None:
        hint, page = words.advice(event.cause)
        line, inner = self._line(event.code, event.lineno), event.inner
        code = self.pages.text.split("\n")[line - 1].strip() if line else ""
        where = self._place(event) if event.lineno else ""
        if inner and (inner.filename, inner.lineno) not in self._met:  # it has no row of its own
            name = printable(words.resumed(inner.name)[0], LONGEST_NAME)
            where += f", in {name}{words.in_file(inner.filename, inner.lineno)}"
            code = inner.line or code
        given_up = event.kind == "given up"
        found = Break(self._who(event.code), line, code, cause, why, given_up, where, hint, page)
        self.breaks.append(replace(found, empty=event.empty))

    def _rewritten(self, event: Happened) -> str:
        names = [words.same(name) for name in event.names]
        calls = ["its graph"] if "__compiled_fn" in names else []
        calls += [f"the resume function at {n[12:]}" for n in names if n.startswith("__resume_at_")]
        before, after = event.sizes
        called = f"; it calls {', then '.join(calls[:2])}" if calls else ""
        called += f" or {' or '.join(calls[2:])}" if calls[2:] else ""
        return f"new code, {after} instructions in place of {before}{called}"

    def _panels(self):
        graph = self._graph if self._graph.nodes else "empty"
        return Panel(SO_FAR, graph), _guards_so_far(self._guards)

    def _place(self, event: Happened) -> str:
        home = torch_private.resumed_from(event.code)
        where = f"{_name(home)}, line {event.lineno - home.co_firstlineno + 1}"
        return where + words.in_file(home.co_filename, event.lineno)

    def _line(self, code: CodeType, lineno: int) -> int:
        return self.pages.line(torch_private.resumed_from(code), lineno)

    def _span(self, event: Instruction) -> tuple[int, int, int, int]:
        source, above = self.pages.place(torch_private.resumed_from(event.code))
        line, column, end, end_column = source.span(event.positions)
        return (above + line, column, above + end, end_column) if line else NOWHERE

    def _who(self, code: CodeType) -> str:
        _, lineno = words.resumed(code.co_name)
        name = _name(torch_private.resumed_from(code))
        if not lineno:
            return name
        line = self._line(code, lineno)
        where = f"line {line}" if line else f"line {lineno} of its file"
        who = f"{name}, resumed after {where}"
        self.resumed[code] = who
        return who

    def _prefix(self, who: str) -> str:
        name = _name(self.function.__code__)
        return "" if who == name else f"{who.removeprefix(f'{name}, ')} · "

    def _outcome(self) -> str:
        if self.kept.error is not None:
            return ended(f"The call raised {said(self.kept.error)}")
        return ended(f"The call returned {brief(self.kept.value)}")

    def _note(self) -> str:
        graphs, breaks = len(self.kept.graphs), len(self.breaks)
        parts = [f"{counted(graphs, 'graph')}, {counted(breaks, 'graph break')}.", self._outcome()]
        parts += self._peeled
        if not self.kept.events and not graphs:
            parts.insert(0, "Dynamo translated no instruction of it: Python ran it as it is.")
        if self.kept.lost:
            parts.append(f"Not all of it could be read on this torch ({self.kept.lost}).")
        if self.kept.elsewhere:
            parts.append(
                f"{self.kept.elsewhere} instructions of other modules' functions are not shown."
            )
        if self.kept.cut_off:
            parts.append(
                "Only the first instructions are shown; give a part of the function to see others."
            )
        if self.kept.printed.size:
            parts.append(f"It printed {brief(self.kept.printed.text())}.")
        return " ".join(parts)


AGAIN = "the same {} instructions again"
PUT_BACK = "{} instructions put back what lay on the stack and jump to where it left off"
_TOLD = {
    "start over": "start over, and stop before this instruction",
    "break": "graph break",
    "given up": "given up, Python runs the whole function",
    "skipped": "nothing to compile, Python runs the function",
    "error": "Dynamo raises",
}


def _name(code: CodeType) -> str:
    """Return the name of a function with the class that it stands in."""
    return printable(code.co_qualname.rpartition("<locals>.")[2], LONGEST_NAME)


def _listing(title: str, lines, heading: str) -> Panel:
    rows = [Line(str(n), words_) for n, words_ in enumerate(lines, 1)]
    if title == "symbolic stack":
        rows = rows[::-1]
    columns = (Column("place", "place"), Column("words", heading, code=True))
    return Panel(title, Listing(title, columns, tuple(rows), "" if rows else "empty"))


def _guards_so_far(guards: list[str]) -> Panel:
    """Return the guards that were taken last; those before stand in the steps that took them."""
    told = words.grouped(guards)
    before = len(told) - MOST_GUARDS
    if before <= 0:
        return _listing("guards so far", told, "guard")
    rows = [Line(str(n), told[n - 1]) for n in range(before + 1, len(told) + 1)]
    columns = (Column("place", "place"), Column("words", "guard", code=True))
    note = f"The {before:,} lines before these stand at the steps that took them."
    return Panel("guards so far", Listing("guards so far", columns, tuple(rows), note))


# ------------------------------------------------------------------ how many events make one step


def _places(events) -> list:
    """Return the (code, offset) of each instruction of the try that ends the events."""
    found = []
    for event in reversed(events):
        if not isinstance(event, Instruction):
            break
        found.append((event.code, event.offset))
    return found[::-1]


def _repeated(events, tried) -> int:
    """Return how many instructions repeat the try before, without the one that it stops at."""
    count = 0
    for event, place in zip(events, tried, strict=False):
        if not isinstance(event, Instruction) or (event.code, event.offset) != place:
            break
        count += 1
    stops = count < len(events) and isinstance(events[count], Happened)
    return count - 1 if count and stops else count


def _prologue(events) -> int:
    """Return how many instructions from here on are the prologue of a resume function."""
    if events[0].offset or not words.resumed(events[0].code.co_name)[1]:
        return 0
    own = []
    for event in events:
        if not isinstance(event, Instruction) or event.code is not events[0].code:
            break
        own.append(event)
    last = max((n for n, event in enumerate(own) if event.prologue), default=-1)
    jumps = last + 1 < len(own) and own[last + 1].opname.startswith("JUMP")
    return last + 1 + (last >= 0 and jumps)
