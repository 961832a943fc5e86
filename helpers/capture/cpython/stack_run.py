"""One call of a Python function -> its instructions, with the real value stack before each."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import takewhile
from types import MethodType

from ...internals import interpreter_frame
from ...model.phrase import counted
from ...model.stage_records import Card, Code, Panel, StackRun, StackStep, Value
from ...safety import PACKAGE
from ..text.source import Pages
from ..text.value import described, plain
from .disassembly import CodeRows, Told, sentence
from .following import Limits
from .objects import named
from .opcode_recorder import MOST_STEPS, Fold, Moment, Recorder
from .unwrapping import to_run

# Of these one object is as good as another that is equal, so which one it is says nothing.
_PLAIN = {"int", "float", "complex", "bool", "str", "bytes", "NoneType", "ellipsis", "cell", ""}


def record(fn, args=(), kwargs=None, **options) -> Recorder:
    """Return the raw record of one call; see `Recorder` for the options."""
    if interpreter_frame.unsupported():
        raise RuntimeError(interpreter_frame.unsupported())
    return Recorder(**options).run(to_run(fn, "watch_stack", args), args, dict(kwargs or {}))


def stack_run(fn, /, *args, depth=None, only=None, most=MOST_STEPS, **kwargs) -> StackRun:
    """Run `fn(*args, **kwargs)` and step through its instructions with the real value stack."""
    limits = Limits("watch_stack", depth, only, most)
    vm = sys.modules.get(f"{PACKAGE}.mini.vm")  # there is no machine before this is loaded
    if vm and type(fn) is MethodType and fn.__func__ is vm.Loop.run:
        from .machine_steps import machine_record

        if (depth, only, most) != (None, None, MOST_STEPS):
            raise TypeError("depth=, only= and most= limit a run of CPython, not of a machine")
        recorder = machine_record(fn, *args, **kwargs)
        title = f"{plain(args[0].__name__)}, in {fn.__self__.called}"
        draft, note = Draft(recorder), recorder.note
    else:
        recorder = record(fn, args, kwargs, look=described, limits=limits)
        draft, function = Draft(recorder), recorder.watched.function
        where = draft.pages.place(function.__code__)[0].where
        title = f"{named(function)}{where}, instruction by instruction"
        note = _note(recorder)
    steps = tuple(_mark_raised(draft.steps()))
    codes = tuple(
        Code(one.function, tuple(one.rows.values()), one.named, one.tables.code.co_stacksize)
        for one in draft.codes.values()
    )
    outcome = recorder.result.sentence(recorder.events, "instruction")
    more = {"outcome": outcome, "recorded": recorder.events, "codes": codes}
    more["places"] = tuple(draft.pages.places)
    real = not any(tables.doubt for tables in recorder.codes.values())
    return StackRun(title, draft.pages.text, steps, note, real=real, **more)


def _note(recorder: Recorder) -> str:
    watched, interrupted = recorder.watched, recorder.result.interrupt is not None
    folded = any(type(moment) is Fold for moment in recorder.moments)
    outcome = recorder.result.sentence(recorder.events, "instruction")
    parts = [*watched.sentences, outcome, watched.unreached(recorder.calls > 0)]
    parts += ["The generator was run to its end."] * (recorder.result.driven and not interrupted)
    parts += ["Each loop shows its first two rounds and its last one."] * folded
    more = f" (most={2 * recorder.most} records more)" * (len(recorder.moments) >= recorder.most)
    parts += [f"{recorder.stopped}{more}; the run continued unrecorded."] * bool(recorder.stopped)
    parts += [recorder.limits.note()]
    doubts = (tables for tables in recorder.codes.values() if tables.doubt)
    unread = (f"The stack of {plain(t.code.co_name)} is not shown: {t.doubt}." for t in doubts)
    aside = recorder.result.aside
    return " ".join(filter(None, [*parts, recorder.printed.note, *unread, aside]))


def _mark_raised(steps: Iterable[StackStep]) -> Iterator[StackStep]:
    """Yield each step; those between a raise and the end of its handler bear line and offset."""
    raised: dict[int, tuple[int, int]] = {}  # call -> of the instruction that raised
    for step in steps:
        offset, line = raised.get(step.call, (-1, 0))
        known = offset >= 0 and not step.left_out
        deed = "raised" * bool(line)
        yield replace(step, raised=offset, left=line, deed=deed) if known else step
        if step.ending.startswith("raises"):
            again = step.opname == "RERAISE" and known
            raised[step.call] = (offset, line) if again else (step.offset, step.line)
        elif step.opname == "POP_EXCEPT":
            raised.pop(step.call, None)


def following(moments: list[Moment | Fold]) -> dict[int, Moment]:
    """Return position -> the next moment of the same call, where none was left out."""
    later, found = {}, {}
    for position, moment in reversed(list(enumerate(moments))):
        key = id(moment.activation)
        if type(moment) is Moment and later.get(key):
            found[position] = later[key]
        later[key] = moment if type(moment) is Moment else None
    return found


class Draft:
    """A record on its way to steps."""

    def __init__(self, recorder):
        self.recorder, self.pages = recorder, Pages()
        self.codes: dict[int, CodeRows] = {}
        self._before: dict[int, tuple] = {}  # call -> (keys, addresses, how many stay)
        self._keys = 0
        self._last = {moment.activation.number: moment.serial for moment in recorder.moments}
        self._running: list[int] = []  # calls on their way
        self._shelf: dict[int, Card] = {}  # calls put aside
        self._facts: dict[int, tuple] = {}  # what each call looked like last

    def steps(self) -> Iterator[StackStep]:
        """Yield one step per moment and one per run of folds."""
        moments, folds = self.recorder.moments, []
        after = following(moments)
        for position, moment in enumerate(moments):
            if type(moment) is Fold:
                folds.append(moment)
                rest = moments[position + 1 :]  # empty after an interrupt
                if not rest or type(rest[0]) is Moment:
                    yield self._folded(folds)
                    folds = []
            else:
                yield self._step(moment, self._printed(moments, position), after.get(position))

    def _code(self, tables) -> CodeRows:
        if id(tables.code) not in self.codes:
            self.codes[id(tables.code)] = CodeRows(tables, self.pages, len(self.codes))
        return self.codes[id(tables.code)]

    def _printed(self, moments, position: int) -> str:
        later = (m.printed for m in moments[position + 1 :] if type(m) is Moment)
        end, start = next(later, self.recorder.printed.size), moments[position].printed
        return self.recorder.printed.text(end)[start:] if end > start else ""

    def _step(self, moment: Moment, printed: str, after: Moment | None) -> StackStep:
        code, real = self._code(moment.activation.tables), moment.found is not None
        row, line = code.rows[moment.offset], code.lines[moment.offset]
        handler = code.handlers[moment.offset]
        ending = self.recorder.endings.get(moment.serial, "")
        values, taken = self._values(moment, code, None if ending else after) if real else ((), 0)
        stack = tuple(v.words for v in values)
        slots = zip(code.named, moment.found if real else (), strict=False)
        bound = [
            (name, words.removeprefix("cell: "), kind)
            for name, (words, kind) in slots
            if words not in ("NULL", "empty cell")
        ]
        names = tuple((name, words) for name, words, _ in bound)
        number = moment.activation.number
        self._shelf.pop(number, None)
        self._running[moment.level :] = [number]
        waiting = [self._card(n, "waits") for n in self._running[:-1] if n in self._facts]
        shelf = tuple(self._shelf.values())
        so_far = self.recorder.printed.text(moment.printed)
        panels = (Panel("printed so far", so_far),) if self.recorder.printed.size else ()
        self._facts[number] = code.function, line, names, stack[: len(stack) - taken]
        if ending.startswith("yields") and self._last[number] > moment.serial:
            self._shelf[number] = self._card(number, "put aside")
        put = None
        if after is not None and after.found is not None and real:
            put = tuple(w for w, _ in after.found[len(code.tables.names) + len(stack) - taken :])
        jumped = after is not None and after.offset == row.target
        known = stack[len(stack) - taken :], stack[-1] if stack else "", put, jumped
        phrase = f"{row.offset} {row.opname} {row.argument}".rstrip()
        called = f"{code.function} · " if len(self.recorder.codes) > 1 else ""
        label = f"{called}{phrase}{f' · {ending}' if ending else ''}"
        says = sentence(Told(row.opname, row.argument, *known, ending, handler))
        variables = tuple(Value(words, kind) for _, words, kind in bound)
        place = {"function": code.function, "call": number, "offset": moment.offset}
        place |= {"code": code.place, "span": row.span, "lane": row.lane, "handler": handler}
        held = {"stack": stack, "values": values, "names": names, "variables": variables}
        held |= {"taken": taken, "real": real, "callers": tuple(waiting), "shelf": shelf}
        deed = {"opname": row.opname, "argrepr": row.argument, "says": says}
        deed |= {"printed": printed, "ending": ending}
        return StackStep(label, line, panels, **place, **held, **deed)

    def _values(self, moment: Moment, code: CodeRows, after) -> tuple[tuple[Value, ...], int]:
        """Return the values on the stack, bottom first, and how many the instruction takes."""
        count, number = len(code.tables.names), moment.activation.number
        found, places = moment.found[count:], moment.places[count:]
        keys, before, stay = self._before.get(number, ([], [], 0))
        stayed = takewhile(lambda n: places[n] == before[n], range(min(len(found), stay)))
        kept = [keys[n] for n in stayed]
        keys = kept + list(range(self._keys + 1, self._keys + 1 + len(found) - len(kept)))
        self._keys += len(keys) - len(kept)
        same = {p: name for p, name in zip(moment.places[:count], code.named, strict=False) if p}
        values = tuple(
            Value(words, kind, "" if kind in _PLAIN else same.get(place, ""), key)
            for (words, kind), place, key in zip(found, places, keys, strict=True)
        )
        taken = code.tables.taken(moment, len(values), after)
        self._before[number] = keys, places, len(values) - taken
        return values, taken

    def _card(self, number: int, state: str) -> Card:
        function, line, *rest = self._facts[number]
        return Card(number, function, line, state, *rest)

    def _folded(self, folds: list[Fold]) -> StackStep:
        loops: Counter = Counter()
        for fold in folds:
            code = self._code(fold.activation.tables)
            loops[code.lines[fold.header], code.function] += fold.rounds
        steps = sum(fold.steps for fold in folds)
        number = self.pages.number
        rounds = (f"{counted(n, 'round')} at line {number(at)}" for (at, _), n in loops.items())
        line, function = next(iter(loops))
        words = f"… left out: {', '.join(rounds)}; {steps} instructions"
        return StackStep(words, line, function=function, left_out=steps)
