"""Frames: of one, what it holds; of a traceback, the chain; of one call, a step at every event."""

import ctypes
import inspect
import sys
from collections import defaultdict, namedtuple
from functools import lru_cache
from itertools import count
from types import CodeType, FrameType, FunctionType

from ...internals import interpreter_frame
from ...internals.frame_tracer import ask_for_opcodes, forget_tracer
from ...internals.interpreter_frame import local_variables
from ...model.code_records import columns
from ...model.phrase import ended
from ...model.stage_records import Card, FrameStep, Panel, Timeline
from ...model.tables import Listing
from ...safety.arguments import printable, real_isinstance, require_int
from ...safety.error_parts import cause_of, context_of, members_of, notes_of, traceback_of
from ..text.error_text import note_text
from ..text.source import Pages
from ..text.value import plain, short_repr
from . import disassembly
from .following import Limits
from .objects import named
from .settrace import Printed, traced
from .unwrapping import to_run

MOST_FRAMES, MOST_ASKED, MOST_LOCALS, MOST_STEPS, MOST_CHAINED = 12, 100_000, 6, 400, 8
MOST_NOTES, LONGEST_NOTE = 4, 300
CSTACK = 3  # FRAME_OWNED_BY_CSTACK: an entry from C, without code of its own (3.12 and later)
GENERATORS = 0x2A0  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
MEANINGS = {
    "f_back": "the frame that called this one, None if there is none",
    "f_code": "the code object that it runs, shared by all calls",
    "f_locals": "local names and values; in a function, a copy up to 3.12",
    "f_globals": "the dict where LOAD_GLOBAL looks first",
    "f_builtins": "where LOAD_GLOBAL looks next",
    "f_lasti": "offset of the instruction that runs, or ran last",
    "f_lineno": "its line, computed from f_lasti and co_linetable when you read it",
    "f_trace": "the tracer of this frame, if one is set",
    "f_trace_lines": "whether the tracer is called at each new line",
    "f_trace_opcodes": "whether it is called at each instruction",
    "clear": "method: empty the slots of a frame that is not running; close its generator",
    "f_generator": "the generator or coroutine that owns the frame, if one does",
}

# One attribute of a frame: its value in words, and what it is.
Attribute = namedtuple("Attribute", "name value meaning")
# One frame. `made` says whether Python has made a frame object for it.
FrameRow = namedtuple(
    "FrameRow", "place function line lasti state locals made", defaults=("", "", "", "", True)
)

# An exception of a traceback: in how many groups it is, and which member of which.
Chained = namedtuple("Chained", "error depth way group")
COUNTED = "Lines are counted from each function's first line, or its first decorator."


def frame_listing(frame: FrameType) -> Listing:
    """List every attribute of a frame."""
    if type(frame) is not FrameType:
        wanted = "a frame, such as sys._getframe()"
        raise TypeError(f"show_frame needs {wanted}, not {short_repr(frame)}")
    has = {name: words for name, words in MEANINGS.items() if hasattr(FrameType, name)}
    rows = tuple(Attribute(name, _value(frame, name), words) for name, words in has.items())
    shown = columns("name value", name="attribute", value="value", meaning="what it is")
    return Listing(f"Frame of {plain(frame.f_code.co_name)}", shown, rows)


def _value(frame: FrameType, name: str) -> str:
    if name != "f_locals":
        fixed = {"clear": "method", "f_globals": "a dict", "f_builtins": "a dict"}
        return fixed.get(name) or short_repr(getattr(frame, name))
    if _is_module(frame):
        return "the dict of f_globals itself"
    return "{" + locals_words(frame, separator=": ") + "}"


def _is_module(frame: FrameType) -> bool:
    """Return whether a frame's names are the global ones; a function's are not asked for."""
    return not _is_function(frame) and frame.f_locals is frame.f_globals


def _is_function(frame: FrameType) -> bool:
    return bool(frame.f_code.co_flags & inspect.CO_OPTIMIZED)


def traceback_listing(error: BaseException) -> Listing:
    """List the frames that an exception, its cause and its context keep alive."""
    if not real_isinstance(error, BaseException):
        raise TypeError(f"show_traceback needs an exception, not {short_repr(error)}")
    chain = _chain_of(error)
    shown, rows, notes = chain[:MOST_CHAINED], [], [COUNTED]
    numbers = {id(one.error): number for number, one in enumerate(shown, 1)}
    for number, (one, depth, way, group) in enumerate(shown, 1):
        before, marks = f"exception {number}" if number > 1 else "", "| " * depth
        if group is not None:
            where = f"{way} of exception {numbers[id(group)]}"
            rows.append(FrameRow(before, f"{marks}{short_repr(one)}", locals=where))
        rows += _link_rows(one, f"{before}, link " if before else "", marks)
        notes += _sentences(one, numbers)
    if len(chain) > MOST_CHAINED:
        notes.append(f"Only the first {MOST_CHAINED} of {len(chain):,} exceptions are listed.")
    headings = "link", "function", "tb_lineno", "tb_lasti", "frame.f_lineno", "locals kept alive"
    title, shown = f"Traceback of {short_repr(error)}", _columns(*headings)
    return Listing(title, shown, tuple(rows), " ".join(notes))


def _chain_of(error: BaseException) -> list[Chained]:
    """Return an exception, and those that it leads to; the members of a group follow it."""
    chain, met = [Chained(error, 0, "", None)], {id(error)}
    for at, (one, depth, _, _) in enumerate(chain, 1):  # which grows
        inside = []
        for number, member in enumerate(members_of(one), 1):
            if id(member) not in met:
                inside.append(Chained(member, depth + 1, f"member {number}", one))
                met.add(id(member))
        chain[at:at] = inside
        for behind in (cause_of(one), context_of(one)):
            if behind is not None and id(behind) not in met:
                chain.append(Chained(behind, 0, "", None))
                met.add(id(behind))
    return chain


def _link_rows(error: BaseException, before: str, marks: str):
    """Yield a row for each frame of a traceback; `marks`: in how many groups the error is."""
    link, at = traceback_of(error), 0
    while link is not None:
        frame, first, at = link.tb_frame, link.tb_frame.f_code.co_firstlineno - 1, at + 1
        raised, now = (str(n - first) if n else "" for n in (link.tb_lineno, frame.f_lineno))
        told = raised, str(link.tb_lasti), now, locals_words(frame)
        yield FrameRow(f"{before}{at}", f"{marks}{plain(frame.f_code.co_name)}", *told)
        link = link.tb_next


def _sentences(error: BaseException, numbers: dict[int, int]):
    """Yield which exceptions are behind one, and its notes; `numbers`: of those that are listed."""
    own, told = numbers[id(error)], set()
    for way, other in (("__cause__", cause_of(error)), ("__context__", context_of(error))):
        number = numbers.get(id(other), 0)
        if number > own and number not in told:
            told.add(number)
            yield f"Exception {number}, {short_repr(other)}, is the {way} of exception {own}."
    for note in notes_of(error)[:MOST_NOTES]:
        yield ended(f"Exception {own} has the note: {printable(note_text(note), LONGEST_NOTE)}")
    if (more := len(notes_of(error)) - MOST_NOTES) > 0:
        yield f"{more:,} more notes of exception {own} are left out."


def _columns(*headings: str) -> tuple:
    return columns("function locals", **dict(zip(FrameRow._fields, headings, strict=False)))


def frame_objects(frame: FrameType, most: int = MOST_FRAMES) -> Listing:
    """Return the frames from `frame` down to its callers, and which have a frame object.

    Read from the interpreter's own records (_PyInterpreterFrame): looking makes no frame object.
    """
    require_int(most, "most", MOST_ASKED)
    if interpreter_frame.unsupported():
        raise RuntimeError(interpreter_frame.unsupported())
    offsets, address, rows = interpreter_frame.layout(), interpreter_frame.base(frame), []
    while address and len(rows) < most:
        owner = ctypes.c_ubyte.from_address(address + offsets.owner).value
        if sys.version_info < (3, 12) or owner != CSTACK:
            code = interpreter_frame.thing(interpreter_frame.word(address + offsets.code))
            name = plain(code.co_name) if type(code) is CodeType else "?"
            made = bool(interpreter_frame.word(address + offsets.frame_object))
            rows.append(FrameRow(str(len(rows) + 1), name, made=made))
        address = interpreter_frame.word(address + offsets.previous)
    shown = columns("function", place="place", function="function", made="frame object made")
    note = "Frames further down are left out; `show_frames(most=…)` lists more." if address else ""
    return Listing("The stack of frames, starting with the running one", shown, tuple(rows), note)


def locals_words(frame: FrameType, separator: str = " = ") -> str:
    """Return a frame's first few locals as words; no code of the objects' own is run."""
    if _is_module(frame):
        return "(the module's dict)"
    values = local_variables(frame)
    return _words_of(values, list(values), separator)


def _words_of(values, names: list[str], separator: str = " = ") -> str:
    first = names[:MOST_LOCALS]
    parts = [f"{plain(name)}{separator}{short_repr(values[name])}" for name in first]
    rest = len(names) - len(parts)
    return ", ".join(parts + ([f"… {rest} more"] if rest else []))


def locals_pairs(frame: FrameType) -> tuple[tuple[str, str], ...]:
    """Return (name, words) of a frame's first few locals; none where they are no function's own."""
    values = {} if _is_module(frame) else local_variables(frame)
    names = list(values)[:MOST_LOCALS]
    return tuple((plain(name), short_repr(values[name])) for name in names)


def _call_words(frame: FrameType) -> str:
    """Return `f(x = 1)` of a call that begins; code of a class or for exec has no arguments."""
    name, code = plain(frame.f_code.co_name), frame.f_code
    if not _is_function(frame):
        return name
    values = local_variables(frame)
    stars = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    many = code.co_argcount + code.co_kwonlyargcount + stars
    arguments = [one for one in code.co_varnames[:many] if one in values]
    return f"{name}({_words_of(values, arguments)})"


def frames_timeline(fn, /, *args, depth=None, only=None, most=MOST_STEPS, **kwargs) -> Timeline:
    """Run `fn(*args, **kwargs)` and step through its calls and returns, with its frames at each."""
    watched, limits = to_run(fn, "watch_frames", args), Limits("watch_frames", depth, only, most)
    run = _Run(watched.function, limits)
    try:
        result = traced(run.enter, run.printed, watched, args, kwargs, lambda: run.full)
    finally:
        for frame in run.live.values():  # that live on
            forget_tracer(frame)
        run.live.clear()
    result.require_record(len(run.steps))
    many = f"Only the first {most:,} steps are recorded (most={2 * most} records more)."
    outcome = result.sentence(len(run.steps), "step")
    lost = f"{result.lost}." if result.lost else ""
    note = *watched.sentences, outcome, many if run.full else lost, run.printed.note
    unread = watched.unreached(bool(run.steps)), result.aside
    words = " ".join(filter(None, (*note, limits.note(), *unread)))
    where = run.pages.place(watched.function.__code__)[0].where
    title = f"Frames of {named(watched.function)}{where}"
    return Timeline(title, run.pages.text, tuple(run.steps), words, tuple(run.pages.places))


class _Run:
    def __init__(self, fn: FunctionType, limits: Limits):
        self.globals, self.steps, self.full, self.limits = fn.__globals__, [], False, limits
        self.pages, self.printed = Pages(), Printed()
        self.pages.place(fn.__code__)
        self._first, self._off, self.live = fn.__code__, {}, {}
        self._ran: dict[int, int] = {}  # frames in which was raised -> what each ran last
        self._numbers: dict[tuple[int, int], int] = defaultdict(count().__next__)

    def enter(self, frame, event, argument):
        """Follow this frame too if the limits say so; the first is that of the function watched."""
        if self.full or (not self.steps and frame.f_code is not self._first):
            return None
        if self.steps and not self.limits.follows(frame, self.globals):
            return None
        level, below = 1, frame.f_back
        while below is not None:
            level, below = level + (id(below) in self.live), below.f_back
        if not self.limits.reaches(level):
            return None
        self.live[id(frame)] = frame
        key = (id(frame), id(frame.f_code))
        resumed = self._off.pop(key, None)
        says = "A new frame goes on top. Its caller waits below."
        name = plain(frame.f_code.co_name)
        if resumed:
            says = "The frame comes back from the shelf with all its values and continues."
        else:
            self._numbers.pop(key, None)  # a frame that has ended may have left its address
        lane = "resume" if resumed else "call"
        called = f"{name}()" if resumed else _call_words(frame)
        self._step(frame, f"{lane} {called}", says, lane)
        return self._on_event

    def _on_event(self, frame, event, argument):
        if self.full:
            frame.f_trace_opcodes = False
            return None
        if event == "exception":
            # A handler may raise it again, which no event tells; what ran last does.
            self._ran[id(frame)] = frame.f_lasti
            ask_for_opcodes(frame)
            deed = "is raised in" if _is_raised_in(frame, argument[2]) else "reaches"
            label = f"{short_repr(argument[1])} {deed} {plain(frame.f_code.co_name)}"
            says = "It looks for a handler in this frame first."
            self._step(frame, label, says, "exception", deed="just raised")
        elif event == "opcode":
            self._ran[id(frame)] = frame.f_lasti
        elif event == "return":
            self._leave(frame, argument)
            self.live.pop(id(frame), None)
            self._ran.pop(id(frame), None)
            forget_tracer(frame)
            return None  # what is returned here would become the frame's tracer again
        return self._on_event

    def _leave(self, frame, value):
        name, words = plain(frame.f_code.co_name), short_repr(value)
        if value is None and self._raises(frame):
            says = "There is no handler here. The frame ends, and the exception goes to its caller."
            label = f"leave {name} with the exception"
            self._step(frame, label, says, "exception", "leaving", deed="just raised")
        elif suspends(frame):
            self._off[id(frame), id(frame.f_code)] = self._look(frame, "", "suspended")
            says = f"The caller gets {words}. The frame moves to the shelf unchanged."
            label = f"yield {words} from {name}"
            self._step(frame, label, says, "yield", "on top again", words, "just yielded")
        else:
            ends = bool(frame.f_code.co_flags & GENERATORS)
            says = f"The caller gets {words}"
            says = "The generator is finished and signals this to its caller" if ends else says
            label, handed = f"return {words} from {name}", "" if ends else words
            says = f"{says}. The frame is gone for good."
            self._step(frame, label, says, "return", "leaving", handed, "just returned")

    def _raises(self, frame) -> bool:
        """Return whether a frame that sends 'return' with None is left by an exception."""
        names = _names_at(frame.f_code)
        if names.get(frame.f_lasti) in disassembly.RETURNS:
            return False
        if id(frame) in self._ran:
            return names.get(self._ran[id(frame)]) != "YIELD_VALUE"
        return not suspends(frame)

    def _step(self, frame, label, says, lane, state="running", handed="", deed=""):
        """Add a step; with a `deed`, the frame's line has run, and the caller's continues."""
        if len(self.steps) >= self.limits.most:
            self.full = True
            return
        stack = self._stack(frame)
        looks = [
            self._look(above, str(place), state if place == 1 else "waits for a call")
            for place, above in enumerate(stack[:MOST_FRAMES], 1)
        ]
        callers = [above for above in stack[:2] if above is not frame]
        line, found = self._line(frame), callers and lane != "exception"
        then = self._line(callers[0]) if found else 0  # where a handler is still to be found
        panels = tuple(self._panels([row for row, _ in looks], len(stack)))
        told = {"left": line if deed else 0, "deed": deed, "says": says, "lane": lane}
        cards = tuple(card for _, card in reversed(looks))
        told |= {"cards": cards, "shelf": tuple(card for _, card in self._off.values())}
        place = then if deed else line
        self.steps.append(FrameStep(label, place, panels, handed=handed, **told))

    def _stack(self, frame) -> list[FrameType]:
        """Return the frames from this one, or its caller if it is put aside, to the first call."""
        stack, last = [], 0
        while frame is not None and frame.f_globals.get("__package__") != __package__:
            stack.append(frame)
            if frame.f_code is self._first:
                last = len(stack)
            frame = frame.f_back
        aside = stack and (id(stack[0]), id(stack[0].f_code)) in self._off
        return stack[1 if aside else 0 : last or len(stack)]

    def _panels(self, rows, deep):
        shown = _columns("place", "function", "line", "f_lasti", "state", "f_locals")
        below = deep - len(rows)
        note = f"{below:,} more below. Each is at the top in an earlier step." if below else ""
        title = "frames on the stack"
        yield Panel(title, Listing(title, shown, tuple(rows), note))
        if self._off:
            off = tuple(row for row, _ in self._off.values())
            rest = Listing("frames off the stack, kept by generators", shown[1:], off)
            yield Panel(rest.title, rest)
        if self.printed.size:
            yield Panel("printed so far", self.printed.text())

    def _line(self, frame) -> int:
        return self.pages.line(frame.f_code, frame.f_lineno)

    def _look(self, frame, place, state) -> tuple[FrameRow, Card]:
        name, line = plain(frame.f_code.co_name), self._line(frame)
        lasti = str(frame.f_lasti) if frame.f_globals is self.globals else ""
        row = FrameRow(place, name, self.pages.number(line), lasti, state, locals_words(frame))
        number = self._numbers[id(frame), id(frame.f_code)]
        return row, Card(number, name, line, state.removesuffix(" for a call"), locals_pairs(frame))


def _is_raised_in(frame: FrameType, link) -> bool:
    """Return whether a traceback is of this frame alone: no frame that it called is in it."""
    return link is not None and link.tb_frame is frame and link.tb_next is None


def suspends(frame: FrameType) -> bool:
    """Return whether a frame that sends 'return' is a generator's at a yield."""
    if not frame.f_code.co_flags & GENERATORS:
        return False
    names = _names_at(frame.f_code)
    # 3.13 has moved on to the instruction after the yield when it tells the tracer
    return "YIELD_VALUE" in (names.get(frame.f_lasti), names.get(frame.f_lasti - 2))


@lru_cache(maxsize=256)
def _names_at(code: CodeType) -> dict[int, str]:
    return {i.offset: i.opname for i in disassembly.instructions(code)}
