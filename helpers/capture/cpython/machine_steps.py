"""One run of a machine of handlers (mini/vm) -> a stack run: its stack, before each instruction.

The steps are the machine's plain instructions, told by their place in its list, to which its jumps
lead; the values are those on the machine's own stack.
"""

from types import CodeType, MethodType

from helpers.capture.cpython import disassembly
from helpers.capture.cpython.instruction_words import Told, lane, sentence
from helpers.capture.cpython.own_words import own_words
from helpers.capture.cpython.raised_here import raised_here
from helpers.capture.cpython.settrace import UNRAISABLE, Printed, Result
from helpers.capture.cpython.stack_effects import takes
from helpers.capture.cpython.stack_panels import Panels
from helpers.capture.text.source import Pages
from helpers.capture.text.value import brief, plain, seen
from helpers.internals.interpreter_frame import variables
from helpers.mini import vm
from helpers.model.phrase import counted, ended
from helpers.model.stack import StackRun, StackStep
from helpers.model.stage import Card, Code, Row, Value
from helpers.safety.interpreter_state import theirs
from helpers.safety.output import redirected

MOST_STEPS = 2000


class _Enough(vm.Halt):
    """The record is full."""


def machine_run(run: MethodType, fn, *args, **kwargs) -> StackRun:
    """Return a step per instruction of `fn`'s module that the machine runs, with its own stack.

    What the run raises is part of the record, a handler that is not written, too.
    """
    draft = _Draft(fn)
    watched = draft.watched(type(run.__self__))
    outcome = _outcome(lambda: watched().run(fn, *args, **kwargs), draft.printed)
    steps = draft.finished()
    note = outcome if len(steps) < MOST_STEPS else f"The record stops after {MOST_STEPS:,} steps."
    title = f"{plain(fn.__name__)}, in your machine"
    codes = tuple(draft.codes.values())
    return StackRun(
        title, draft.pages.text, steps, note, outcome=outcome, recorded=len(steps), codes=codes
    )


def _outcome(call, printed: Printed) -> str:
    with redirected(printed):
        try:
            with theirs():
                try:
                    value = call()
                except vm.Halt as halt:  # the machine's own end, and none of the program's
                    return ended(f"The machine stopped: {halt}")
        except UNRAISABLE:
            raise
        except BaseException as error:
            return Result(brief(error), raised=True).sentence
    return Result(brief(value)).sentence


class _Moment:
    """The machine before one instruction: words only, and addresses to tell values apart."""

    def __init__(self, frame, number: int, printed: int):
        self.number, self.code, self.printed = number, frame.code, printed
        self.position = frame.at - 1
        self.step = frame.steps[self.position]
        self.values = [(*seen(value), id(value)) for value in frame.stack]
        held = ((name, frame.value_of_slot(name)) for name in variables(frame.code))
        self.names = [(n, *seen(v), id(v)) for n, v in held if v is not vm.NULL]
        self.ending = ""
        self.callers = ()
        self.keys: tuple[int, ...] = ()


class _Draft:
    """A run on its way to steps."""

    def __init__(self, fn):
        self.space, self.pages, self.printed = fn.__globals__, Pages(), Printed()
        self.codes: dict[int, Code] = {}
        self._moments: list[_Moment] = []
        self._numbers: dict[int, tuple[int, object]] = {}
        self._latest: dict[int, _Moment] = {}
        self._panels, self._count = Panels(self.printed), 0

    def watched(self, machine: type) -> type:
        """Return the machine with handlers that are noted before they run."""

        def watching(name):
            def run_it(frame, *arguments):
                moment = self._note(frame)
                try:
                    return getattr(super(watched, frame), name)(*arguments)
                except vm.Halt:
                    raise
                except BaseException as error:
                    if moment:
                        moment.ending = f"raises {brief(error)}"
                    raise

            return run_it

        methods = {name: watching(name) for name in vm.opcodes(machine)}
        watched = type("frame", (machine,), methods)
        return watched

    def _note(self, frame) -> _Moment | None:
        if frame.globals is not self.space:
            return None
        if len(self._moments) >= MOST_STEPS:
            raise _Enough
        number, _ = self._numbers.setdefault(id(frame), (len(self._numbers) + 1, frame))
        moment = _Moment(frame, number, self.printed.size)
        before = self._latest.get(number)
        self._keyed(moment, before)
        back = frame.back
        while back is not None and id(back) in self._numbers:
            moment.callers = (self._numbers[id(back)][0], *moment.callers)
            back = back.back
        moment.callers = tuple(self._card(n) for n in moment.callers)
        self._latest[number] = moment
        self._moments.append(moment)
        return moment

    def _keyed(self, moment: _Moment, before: _Moment | None) -> None:
        """Give each value the key that it had in the moment before, or a new one."""
        old = before.values if before else []
        # An operator may give the very object that it took: then its table says what it took.
        old = old[: len(old) - takes(before.step.opname)] if before else old
        stay = 0
        for one, other in zip(old, moment.values, strict=False):
            if one[2] != other[2]:
                break
            stay += 1
        fresh = len(moment.values) - stay
        kept = before.keys[:stay] if before else ()
        moment.keys = (*kept, *range(self._count + 1, self._count + 1 + fresh))
        self._count += fresh

    def _card(self, number: int) -> Card:
        moment = self._latest[number]
        names = tuple((name, words) for name, words, *_ in moment.names)
        stack = tuple(words for words, *_ in moment.values)
        name = plain(moment.code.co_name)
        return Card(number, name, self._line(moment), "waits", names, stack)

    def finished(self) -> tuple[StackStep, ...]:
        """Return the steps, and let go of the machine's frames."""
        self._numbers.clear()
        for moment in self._moments:
            self._row(moment)  # so that the functions stand in the order in which they ran
        later: dict[int, _Moment] = {}
        steps, size = [], self.printed.size
        for moment in reversed(self._moments):
            steps.append(self._step(moment, later.get(moment.number), size))
            later[moment.number], size = moment, moment.printed
        return tuple(raised_here(reversed(steps)))

    def _step(self, moment: _Moment, after: _Moment | None, printed: int) -> StackStep:
        row, name = self._row(moment), plain(moment.code.co_name)
        stack = tuple(words for words, *_ in moment.values)
        taken, put = self._moved(moment, after)
        handler = self._handler(moment)
        top = stack[-1] if stack else ""
        opname, ending = row.opname, moment.ending
        if opname == "RETURN_VALUE" and not ending:
            ending = f"returns {top}"
        jumped = after is not None and after.position == row.target
        took = stack[len(stack) - taken :]
        told = Told(opname, row.argument, took, top, put, jumped, ending, handler)
        names = tuple((n, words) for n, words, *_ in moment.names)
        phrase = f"{row.offset} {opname} {row.argument}".rstrip()
        several = f"{name} · " if len(self.codes) > 1 else ""
        return StackStep(
            f"{several}{phrase}{f' · {ending}' if ending else ''}",
            self._line(moment),
            self._panels.of(stack, names, moment.printed, handler),
            span=row.span,
            says=sentence(told),
            lane=row.lane,
            function=name,
            call=moment.number,
            offset=row.offset,
            opname=opname,
            argrepr=row.argument,
            stack=stack,
            names=names,
            handler=handler,
            printed=self.printed.text(printed)[moment.printed :],
            ending=ending,
            code=list(self.codes).index(id(moment.code)),
            values=tuple(
                Value(words, kind, "", key)
                for (words, kind, _), key in zip(moment.values, moment.keys, strict=True)
            ),
            taken=taken,
            variables=tuple(Value(words, kind) for _, words, kind, _ in moment.names),
            callers=moment.callers,
        )

    def _moved(self, moment: _Moment, after: _Moment | None) -> tuple[int, tuple | None]:
        """Return how many values the handler took, and the words of those that it put there."""
        if moment.step.opname in ("RETURN_VALUE", "YIELD_VALUE"):
            return min(1, len(moment.values)), None
        if after is None or moment.ending:
            return min(takes(moment.step.opname), len(moment.values)), None
        stay = sum(a == b for a, b in zip(moment.keys, after.keys, strict=False))
        return len(moment.keys) - stay, tuple(words for words, *_ in after.values[stay:])

    def _handler(self, moment: _Moment) -> str:
        """Say what the exception table does for an exception here; nothing where it has no row."""
        for first, end, target, depth, lasti in vm.plain(moment.code)[1]:
            if first <= moment.position < end:
                kept = counted(depth, "value")
                return f"go to {target}, keep {kept}{', push the offset' if lasti else ''}"
        return ""

    def _row(self, moment: _Moment) -> Row:
        code = moment.code
        if id(code) not in self.codes:
            self.codes[id(code)] = self._listed(code)
        return self.codes[id(code)].rows[moment.position]

    def _line(self, moment: _Moment) -> int:
        places = disassembly.positions(moment.code)
        return self.pages.line(moment.code, places[moment.step.offset // 2][0])

    def _listed(self, code: CodeType) -> Code:
        source, above = self.pages.place(code)
        places = disassembly.positions(code)
        rows = []
        for position, step in enumerate(vm.plain(code)[0]):
            line, column, end, end_column = source.span(places[step.offset // 2])
            span = (above + line, column, above + end, end_column) if line else (0, 0, 0, 0)
            kind = lane(step.opname)
            jumps = "JUMP" in step.opname or step.opname in ("FOR_ITER", "SEND")
            target = step.arguments[-1] if jumps else -1
            words = f"to {target}" if jumps else _words(step.arguments)
            rows.append(Row(position, step.opname, words, kind, span, target))
        if not code.co_name.startswith("<"):
            rows = own_words(rows, self.pages.snippet(code))
        return Code(plain(code.co_name), tuple(rows), tuple(variables(code)), code.co_stacksize)


def _words(arguments: tuple) -> str:
    """Return names as they are, and any other thing in a few words."""
    shown = (arg for arg in arguments if arg != ())
    return ", ".join(plain(arg) if type(arg) is str else brief(arg) for arg in shown)
