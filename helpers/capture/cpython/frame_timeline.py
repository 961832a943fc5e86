"""One call of a Python function -> its frames at every call, return, yield and exception."""

from types import CodeType, FrameType, FunctionType

from helpers.capture.cpython import disassembly
from helpers.capture.cpython.frame import MOST_FRAMES, FrameRow, locals_pairs, locals_words
from helpers.capture.cpython.settrace import (
    MOST_PRINTED,
    TRACER_LOST,
    Printed,
    Result,
    traced,
)
from helpers.capture.cpython.unwrapping import to_run
from helpers.capture.text.source import Pages
from helpers.capture.text.value import brief, plain
from helpers.model.frames import FrameStep
from helpers.model.listing import Column, Listing
from helpers.model.stage import Card
from helpers.model.timeline import Panel, Timeline
from helpers.safety.restoring import undone

MOST_STEPS = 400
YIELDS = ("YIELD_VALUE",)
RETURNS = ("RETURN_VALUE", "RETURN_CONST")  # none of them raises
GENERATORS = 0x2A0  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR


def frames_timeline(fn, *args, **kwargs) -> Timeline:
    """Return a step per call, return, yield and exception of `fn(*args, **kwargs)`: all frames.

    Followed are the functions of the same module. A generator function is run to its end. TypeError
    for what has no frame to watch; the record stops after `MOST_STEPS`, and says so.
    """
    watched = to_run(fn, args, "watch_frames")
    run = _Run(watched.function)
    with undone(run.let_go):
        result = traced(run.enter, run.printed, watched, args, kwargs, lambda: run.full)
    title = f"Frames of {plain(watched.function.__name__)}"
    note = (*watched.sentences, _note(run, result), watched.unreached(bool(run.steps)))
    return Timeline(title, run.pages.text, tuple(run.steps), " ".join(filter(None, note)))


def _note(run: "_Run", result: Result) -> str:
    """Say how the run ended, and what is not in the record."""
    said = [result.sentence]
    if run.full:
        said.append(
            f"Only the first {MOST_STEPS} events are recorded; a call with less to do fits."
        )
    elif result.tracer_changed:
        said.append(f"{TRACER_LOST}.")
    if run.printed.more:
        said.append(f"Only the first {MOST_PRINTED:,} characters that it printed are kept.")
    return " ".join(said)


class _Run:
    """One traced run; `steps` fills up at its calls and returns."""

    def __init__(self, fn: FunctionType):
        self.globals, self.steps, self.full = fn.__globals__, [], False
        self.pages, self.printed = Pages(), Printed()
        self.pages.place(fn.__code__)
        self._local, self._first, self._off = self._on_event, fn.__code__, {}
        self._live: dict[int, FrameType] = {}
        self._ran: dict[int, int] = {}  # frames in which was raised -> what each ran last
        self._numbers: dict[tuple[int, int], int] = {}
        self._seen: set[int] = set()

    def enter(self, frame, event, argument):
        """Follow this frame too if its function belongs to the module of the one watched."""
        if frame.f_globals is not self.globals or self.full:
            return None
        if not self.steps and frame.f_code is not self._first:
            return None
        self._live[id(frame)] = frame
        key = (id(frame), id(frame.f_code))
        resumed = self._off.pop(key, None)
        words, name = locals_words(frame), plain(frame.f_code.co_name)
        if resumed:
            says = "The frame comes back from the shelf, with all that it held, and goes on."
            self._step(frame, f"resume {name}()", says, "resume")
        else:
            self._numbers.pop(key, None)  # a frame that has ended may have left its address
            says = "A new frame is laid on top; its caller waits below."
            self._step(frame, f"call {name}({words})", says, "call")
        return self._local

    def _on_event(self, frame, event, argument):
        if self.full:
            frame.f_trace_opcodes = False
            return None
        if event == "exception":
            # A handler may raise it again, which no event tells; what ran last does.
            self._ran[id(frame)], frame.f_trace_opcodes = frame.f_lasti, True
            said = f"{brief(argument[1])} passes through {plain(frame.f_code.co_name)}"
            says = "It looks for a handler in this frame first."
            self._step(frame, said, says, "exception", deed="just raised")
        elif event == "opcode":
            self._ran[id(frame)] = frame.f_lasti
        elif event == "return":
            self._left(frame, argument)
            self._live.pop(id(frame), None)
            self._ran.pop(id(frame), None)
            _untraced(frame)
            return None  # what is returned here would become the frame's tracer again
        return self._local

    def let_go(self) -> None:
        """Take the tracer off frames that live on, and forget them."""
        while self._live:
            _untraced(self._live.popitem()[1])

    def _left(self, frame, value):
        name, words = plain(frame.f_code.co_name), brief(value)
        gone = "the frame leaves for good."
        if value is None and self._raises(frame):
            says = "No handler here: the frame goes, and the exception on to its caller."
            label = f"leave {name} with the exception"
            self._step(frame, label, says, "exception", "leaving", deed="just raised")
        elif suspends(frame):
            row, card = self._row(frame, "", "suspended"), self._card(frame, "suspended")
            self._off[id(frame), id(frame.f_code)] = row, card
            says = f"The caller gets {words}; the frame is put on the shelf, as it is."
            label = f"yield {words} from {name}"
            self._step(frame, label, says, "yield", "on top again", words, "just yielded")
        else:
            ends = bool(frame.f_code.co_flags & GENERATORS)
            says = "The generator is at its end, and its caller learns so" if ends else ""
            says = f"{says or f'The caller gets {words}'}; {gone}"
            label = f"return {words} from {name}"
            handed = "" if ends else words
            self._step(frame, label, says, "return", "leaving", handed, "just returned")

    def _raises(self, frame) -> bool:
        """Return whether a frame that sends 'return' with None is left by an exception.

        A `with` that raises again sets f_lasti back to where it was raised, which may be a yield.
        """
        names = _names_at(frame.f_code)
        if names.get(frame.f_lasti) in RETURNS:
            return False
        if id(frame) in self._ran:
            return names.get(self._ran[id(frame)]) not in YIELDS
        return not suspends(frame)

    def _step(self, frame, label, says, lane, state="running", handed="", deed=""):
        """Add a step; with a `deed`, the frame's line has run, and the caller's goes on."""
        if len(self.steps) >= MOST_STEPS:
            self.full = True
            return
        stack = self._stack(frame)
        rows = [
            self._row(above, str(place), state if place == 1 else "waits for a call")
            for place, above in enumerate(stack[:MOST_FRAMES], 1)
        ]
        cards = [
            self._card(above, "waits" if place else state)
            for place, above in enumerate(stack[:MOST_FRAMES])
        ]
        line = self.pages.line(frame.f_code, frame.f_lineno)
        self.steps.append(
            FrameStep(
                label,
                self._goes_on(frame, stack, lane) if deed else line,
                tuple(self._panels(rows, len(stack))),
                left=line if deed else 0,
                deed=deed,
                says=says,
                lane=lane,
                cards=tuple(reversed(cards)),
                shelf=tuple(card for _, card in self._off.values()),
                handed=handed,
            )
        )

    def _goes_on(self, frame, stack, lane: str) -> int:
        """Return the line of the caller, which goes on; 0 where a handler is still to be found."""
        callers = [above for above in stack[:2] if above is not frame]
        if lane == "exception" or not callers:
            return 0
        return self.pages.line(callers[0].f_code, callers[0].f_lineno)

    def _stack(self, frame) -> list[FrameType]:
        """Return the frames from this one, or its caller if it is put aside, to the first call."""
        stack, last = [], 0
        while frame is not None and not _is_ours(frame):
            stack.append(frame)
            if frame.f_code is self._first:
                last = len(stack)
            frame = frame.f_back
        aside = stack and (id(stack[0]), id(stack[0].f_code)) in self._off
        return stack[1 if aside else 0 : last or len(stack)]

    def _panels(self, rows, deep):
        columns = (
            Column("place", "place"),
            Column("function", "function", True),
            Column("line", "line"),
            Column("lasti", "f_lasti"),
            Column("state", "state"),
            Column("locals", "f_locals", True),
        )
        below = deep - len(rows)
        note = f"{below:,} more below; earlier steps have each of them at the top." if below else ""
        title = "frames on the stack"
        yield Panel(title, Listing(title, columns, tuple(rows), note))
        if self._off:
            off = tuple(row for row, _ in self._off.values())
            rest = Listing("frames off the stack, kept by generators", columns[1:], off)
            yield Panel(rest.title, rest)
        if self.printed.size:
            yield Panel("printed so far", self.printed.text())

    def _card(self, frame, state) -> Card:
        key = (id(frame), id(frame.f_code))
        number = self._numbers.setdefault(key, len(self._seen))
        self._seen.add(number)
        name, line = plain(frame.f_code.co_name), self.pages.line(frame.f_code, frame.f_lineno)
        return Card(number, name, line, state, locals_pairs(frame))

    def _row(self, frame, place, state):
        line = self.pages.line(frame.f_code, frame.f_lineno)
        inside = frame.f_globals is self.globals
        return FrameRow(
            place,
            plain(frame.f_code.co_name),
            str(line or ""),
            str(frame.f_lasti) if inside else "",
            state,
            locals_words(frame),
        )


def _is_ours(frame: FrameType) -> bool:
    """Return whether the frame belongs to the watching (a forgotten generator ends below it)."""
    package = dict.get(frame.f_globals, "__package__")
    return type(package) is str and package == __package__


def _untraced(frame: FrameType) -> None:
    frame.f_trace, frame.f_trace_opcodes = None, False


def suspends(frame: FrameType) -> bool:
    """Return whether a frame that sends 'return' is a generator's at a yield."""
    code = frame.f_code
    if not code.co_flags & GENERATORS:
        return False
    names = _names_at(code)
    # 3.13 has moved on to the instruction after the yield when it tells the tracer
    return names.get(frame.f_lasti) in YIELDS or names.get(frame.f_lasti - 2) in YIELDS


@disassembly.once_per_code
def _names_at(code: CodeType) -> dict[int, str]:
    return {i.offset: i.opname for i in disassembly.instructions(code)}
