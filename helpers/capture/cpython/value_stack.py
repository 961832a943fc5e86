"""One call of a Python function -> its instructions, with the real value stack before each."""

from dataclasses import dataclass
from types import CodeType

from helpers.capture.cpython import disassembly, stack_effects
from helpers.capture.cpython.bytecode import argument
from helpers.capture.cpython.function import function_of, refuse_async
from helpers.capture.cpython.opcode_recorder import MOST_STEPS, Fold, Moment, Recorder, Tables
from helpers.capture.cpython.settrace import MOST_PRINTED
from helpers.capture.text.source import Pages
from helpers.capture.text.value import plain
from helpers.internals import interpreter_frame
from helpers.model.listing import Column, Listing
from helpers.model.phrase import counted
from helpers.model.stack import StackRun, StackStep
from helpers.model.timeline import Panel

MOST_LOCALS = 24
EMPTY_CELL = "empty cell"


@dataclass(frozen=True)
class Slot:
    """One value on the stack; `place` counts from the bottom, the top says so."""

    place: str
    value: str


@dataclass(frozen=True)
class Local:
    """One local variable with the words of its value."""

    name: str
    value: str


def record(fn, args=(), kwargs=None, **options) -> Recorder:
    """Return the raw record of one call; see `Recorder` for the options.

    TypeError for what has no bytecode to run; RuntimeError on an interpreter that is not read.
    """
    if interpreter_frame.unsupported():
        raise RuntimeError(interpreter_frame.unsupported())
    function, own = function_of(fn, "watch_stack")
    refuse_async(function, "watch_stack")
    return Recorder(**options).run(function, (*own, *args), dict(kwargs or {}))


def stack_run(fn, *args, **kwargs) -> StackRun:
    """Return a step per instruction that `fn(*args, **kwargs)` runs, with the real stack before it.

    Followed are the functions of the same module, called however deep; any other call is one step.
    A generator function is run to its end. Rounds of a loop after the second and before the last
    are left out, and the record stops after `MOST_STEPS`; notes say so. What the function raises is
    part of the record. TypeError and RuntimeError as `record`.
    """
    recorder = record(fn, args, kwargs)
    draft = _Draft(recorder)
    function = function_of(fn, "watch_stack")[0]
    draft.pages.place(function.__code__)
    steps = tuple(draft.steps())
    title = f"{plain(function.__name__)}, instruction by instruction"
    return StackRun(
        title,
        draft.pages.text,
        steps,
        _note(recorder),
        outcome=recorder.result.sentence,
        real=not any(tables.doubt for tables in recorder.codes.values()),
        recorded=recorder.events,
    )


class _Code:
    """What every step of one code object needs, looked up once."""

    def __init__(self, tables: Tables, pages: Pages):
        self.tables, code = tables, tables.code
        self.instructions = {i.offset: i for i in disassembly.instructions(code)}
        places = [position[0] for position in disassembly.positions(code)]
        self.lines = {o: pages.line(code, places[o // 2]) for o in self.instructions}
        self.arguments = {o: argument(i, code) for o, i in self.instructions.items()}
        self.handlers = {o: _handler(code, o) for o in self.instructions}
        self.named = _named(code)

    def origin(self, offset: int) -> str:
        """Say which instruction put a value there."""
        if offset < 0:
            return "put there by the interpreter"
        instruction = self.instructions[offset]
        return f"from {offset} {instruction.opname} {self.arguments[offset]}".rstrip()


class _Draft:
    """A record on its way to steps."""

    def __init__(self, recorder: Recorder):
        self.recorder, self.pages = recorder, Pages()
        self._codes: dict[int, _Code] = {}
        self._panels: dict[object, Panel] = {}
        self._pairs: dict[tuple[str, str], tuple[str, str]] = {}

    def steps(self):
        """Yield one step per moment and one per run of folds."""
        moments, folds = self.recorder.moments, []
        for position, moment in enumerate(moments):
            if type(moment) is Fold:
                folds.append(moment)
                continue
            if folds:
                yield self._folded(folds)
                folds = []
            yield self._step(moment, self._printed(moments, position))
        if folds:
            yield self._folded(folds)

    def _code(self, tables: Tables) -> _Code:
        if id(tables.code) not in self._codes:
            self._codes[id(tables.code)] = _Code(tables, self.pages)
        return self._codes[id(tables.code)]

    def _printed(self, moments, position: int) -> str:
        """Return what this instruction printed: what there is more before the next one."""
        following = (m.printed for m in moments[position + 1 :] if type(m) is Moment)
        end = next(following, self.recorder.printed.size)
        start = moments[position].printed
        return self.recorder.printed.text(end)[start:] if end > start else ""

    def _step(self, moment: Moment, printed: str) -> StackStep:
        code = self._code(moment.activation.tables)
        instruction = code.instructions[moment.offset]
        stack, names, real = self._read(moment, code)
        ending = self.recorder.endings.get(moment.serial, "")
        function, handler = plain(code.tables.code.co_name), code.handlers[moment.offset]
        argrepr = code.arguments[moment.offset]
        phrase = f"{moment.offset} {instruction.opname} {argrepr}".rstrip()
        called = f"{function} · " if len(self.recorder.codes) > 1 else ""
        label = f"{called}{phrase}{f' · {ending}' if ending else ''}"
        panels = [self._stack_panel(stack, real), self._names_panel(names)]
        if handler:
            panels.append(Panel("on an exception", handler))
        if self.recorder.printed.size:
            panels.append(self._printed_panel(moment.printed))
        return StackStep(
            label,
            code.lines[moment.offset],
            tuple(panels),
            function,
            moment.activation.number,
            moment.offset,
            instruction.opname,
            argrepr,
            stack,
            names,
            real,
            handler,
            printed,
            ending,
        )

    def _read(self, moment: Moment, code: _Code):
        if moment.found is None:
            origins = code.tables.origins.get(moment.offset, ())
            return tuple(code.origin(origin) for origin in origins), (), False
        count = len(code.tables.names)
        pairs = zip(code.named, moment.found, strict=False)
        named = ((n, w.removeprefix("cell: ")) for n, w in pairs if _is_bound(w))
        names = tuple(self._pairs.setdefault(pair, pair) for pair in named)  # each stored once
        return moment.found[count:], names, True

    def _folded(self, folds: list[Fold]) -> StackStep:
        loops = {}
        for fold in folds:
            code = self._code(fold.activation.tables)
            key = (code.lines[fold.header], plain(code.tables.code.co_name))
            loops[key] = loops.get(key, 0) + fold.rounds
        steps = sum(fold.steps for fold in folds)
        rounds = ", ".join(
            f"{n} round{'s' if n > 1 else ''} at line {line}" for (line, _), n in loops.items()
        )
        words = f"… left out: {rounds}; {steps} instructions"
        first = self._code(folds[0].activation.tables)
        return StackStep(
            words,
            first.lines[folds[0].header],
            (),
            plain(first.tables.code.co_name),
            left_out=steps,
        )

    def _stack_panel(self, stack, real) -> Panel:
        key = ("stack", stack, real)
        if key not in self._panels:
            columns = (Column("place", "place"), Column("value", "value", code=True))
            rows = [Slot(str(n), words) for n, words in enumerate(stack, 1)][::-1]
            if rows:
                rows[0] = Slot(f"{rows[0].place} top", rows[0].value)
            title = "value stack" if real else "value stack (recomputed)"
            note = "" if rows else "empty"
            self._panels[key] = Panel(title, Listing(title, columns, tuple(rows), note))
        return self._panels[key]

    def _printed_panel(self, size: int) -> Panel:
        key = ("printed", size)
        if key not in self._panels:
            self._panels[key] = Panel("printed so far", self.recorder.printed.text(size))
        return self._panels[key]

    def _names_panel(self, names) -> Panel:
        key = ("names", names)
        if key not in self._panels:
            columns = (Column("name", "name", code=True), Column("value", "value", code=True))
            rows = tuple(Local(*pair) for pair in names[:MOST_LOCALS])
            more = len(names) - len(rows)
            note = f"and {more} more" if more else "" if rows else "none yet"
            self._panels[key] = Panel("locals", Listing("locals", columns, rows, note))
        return self._panels[key]


def _is_bound(words: str) -> bool:
    return words not in ("NULL", EMPTY_CELL)


def _named(code: CodeType) -> tuple[str, ...]:
    """Return the slots' names; one that inner functions share says so."""
    shared = {*code.co_cellvars, *code.co_freevars}
    return tuple(f"{n} (cell)" if n in shared else n for n in interpreter_frame.variables(code))


def _handler(code: CodeType, offset: int) -> str:
    """Say what the exception table does for an exception here; nothing where it has no row."""
    for row in stack_effects.handlers(code):
        if row.start <= offset < row.end:
            values = counted(row.depth, "value")
            return f"go to {row.target}, keep {values}{', push the offset' if row.lasti else ''}"
    return ""


def _note(recorder: Recorder) -> str:
    parts = [recorder.result.sentence]
    if recorder.result.driven:
        parts.append("The generator was run to its end.")
    if any(type(moment) is Fold for moment in recorder.moments):
        parts.append("Of each loop the first two and the last rounds are shown.")
    if recorder.stopped:
        parts.append(f"{recorder.stopped}; the run went on unrecorded.")
    if recorder.printed.more:
        parts.append(f"Only the first {MOST_PRINTED:,} characters that it printed are kept.")
    doubts = {plain(t.code.co_name): t.doubt for t in recorder.codes.values() if t.doubt}
    for name, doubt in doubts.items():
        parts.append(f"The stack of {name} is recomputed from its bytecode, not read: {doubt}.")
    return " ".join(parts)


__all__ = ["MOST_STEPS", "record", "stack_run"]
