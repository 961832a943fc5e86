"""A tracer and a call -> the call made under it, and everything restored afterwards."""

import io
import sys
from collections import namedtuple
from collections.abc import Callable
from types import CoroutineType, GeneratorType

from ...internals.frame_tracer import FrameTracer
from ...model.phrase import ended, interrupted
from ...safety.arguments import real_type_name
from ...safety.dynamo_aside import leave_to_python
from ...safety.restoring import note_end, note_interrupt
from ...safety.standard_output import redirected
from ..text.error import error_message
from ..text.value import short_repr
from .aside import OF_FRAMES, say_aside, say_found

MOST_PRINTED, TAIL = 20_000, 1000  # characters
TRACER_LOST = "The tracer was lost (sys.settrace, or Ctrl-C inside it)"
STACK_FULL = "The tracer was lost (the stack was full)"
INTERRUPTED = "interrupted"


def run_to_end(run: Callable) -> str:
    """Run what is the learner's; return the words of what it raised, `INTERRUPTED` for Ctrl-C."""
    try:
        run()
    except KeyboardInterrupt as error:
        note_interrupt(error)
        return INTERRUPTED
    except BaseException as error:
        note_end(error)
        return error_message(error)
    return ""


class Printed(io.StringIO):
    """Keeps the first `MOST_PRINTED` characters, `size` of them, and the last ones in `tail`."""

    size, total, tail = 0, 0, ""

    def __init__(self):
        super().__init__()
        leave_to_python(Printed.write)

    def write(self, text: str) -> int:
        """Keep the text as far as there is room."""
        self.size += super().write(text[: max(MOST_PRINTED - self.size, 0)])
        self.tail, self.total = (self.tail + text[-TAIL:])[-TAIL:], self.total + len(text)
        return len(text)

    @property
    def note(self) -> str:
        """Say, where it is so, that not all is kept."""
        words = f"Only the first {MOST_PRINTED:,} characters that it printed are kept."
        return words if self.total > self.size else ""

    def text(self, size: int | None = None) -> str:
        """Return what was printed, or its first `size` characters."""
        return self.getvalue()[:size]


_FIELDS = "words verb driven lost kind interrupt aside"


class Result(namedtuple("Result", _FIELDS, defaults=(None, ""))):
    """How a call ended: the value or exception in `words`, its type in `kind`.

    `lost`: how the tracer was lost, "" if it was not. `interrupt`: the KeyboardInterrupt that ended
    the call, if one did. `aside`: the sentences on the tracers of the program and of the verb.
    """

    @property
    def raised(self) -> bool:
        """Whether it ended by an exception."""
        return self.verb == "It raised"

    def sentence(self, number: int, noun: str) -> str:
        """Return the end as words; `number`: how many steps, say, were recorded before it."""
        if self.interrupt is not None:
            return interrupted(number, noun)
        return ended(f"{self.verb} {self.words}")

    def require_record(self, number: int) -> None:
        """Raise the interrupt if it came before anything was recorded: there is no picture."""
        if self.interrupt is not None and not number:
            raise self.interrupt


def traced(
    tracer: Callable, printed: Printed, watched, args, kwargs, enough: Callable[[], bool]
) -> Result:
    """Call what is `watched` with `tracer` set, its generator to the end, and say how it ended.

    The tracer raises `Enough` when it wants to see nothing more.
    """
    # 3.12 sends opcode events only if some frame asked before settrace. No variable refers to this
    # frame: it would be in a cycle, and keep the arguments and the result alive.
    opcodes = sys._getframe().f_trace_opcodes
    sys._getframe().f_trace_opcodes = True
    frame_tracer = FrameTracer(tracer)
    verb, driven, is_on, error_raised, interrupt = "It returned", False, True, None, None
    with redirected(printed):
        frame_tracer.start()
        try:
            value = watched.call(*args, **kwargs)
            kind, code = real_type_name(value), watched.function.__code__
            driven = type(value) is GeneratorType and value.gi_code is code
            words = _drive(value, enough) if driven else short_repr(value)
            if type(value) is CoroutineType:
                value.close()
        except KeyboardInterrupt as error:
            words, kind, verb = "", real_type_name(error), "It raised"
            interrupt = error
        except BaseException as error:
            words, kind, verb = short_repr(error), real_type_name(error), "It raised"
            error_raised = error
        finally:
            if frame_tracer.is_ours():
                frame_tracer.put_back()
            is_on = frame_tracer.finish()
            sys._getframe().f_trace_opcodes = opcodes
    if interrupt is not None:
        note_interrupt(interrupt)
    note_end(error_raised)
    code = watched.function.__code__
    aside = " ".join(filter(None, (say_aside(frame_tracer), say_found(code, OF_FRAMES))))
    lost = "" if is_on or interrupt is not None else _say_lost(frame_tracer.error)
    try:
        return Result(words, verb, driven, lost, kind, interrupt, aside)
    finally:
        error_raised = interrupt = None  # whose tracebacks lead to this frame


def _say_lost(error: BaseException | None) -> str:
    if isinstance(error, RecursionError):
        return STACK_FULL
    known = error is None or isinstance(error, KeyboardInterrupt)
    return TRACER_LOST if known else f"The tracer was lost ({error_message(error)})"


def _drive(generator: GeneratorType, enough: Callable[[], bool]) -> str:
    while not enough():
        try:
            next(generator)
        except StopIteration as stop:
            return short_repr(stop.value)
    generator.close()
    return "a generator, which was then closed"
