"""A tracer and a call -> the call made under it, and everything restored afterwards."""

import io
import sys
from collections import namedtuple
from collections.abc import Callable
from types import CoroutineType, GeneratorType

from ...model.phrase import ended, interrupted
from ...safety.arguments import real_type_name
from ...safety.restoring import (
    note_end,
    note_interrupt,
    noting_what_learners_set,
    redirected,
)
from ..text.error import error_message
from ..text.value import short_repr

MOST_PRINTED, TAIL = 20_000, 1000  # characters
TRACER_LOST = "The tracer was lost (sys.settrace, or Ctrl-C inside it)"
INTERRUPTED = "interrupted"


def run_to_end(run: Callable) -> str:
    """Run what is the learner's; return the words of what it raised, `INTERRUPTED` for Ctrl-C."""
    try:
        with noting_what_learners_set():
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


class Result(
    namedtuple("Result", "words verb driven tracer_changed kind interrupt", defaults=(None,))
):
    """How a call ended: the value or exception in `words`, its type in `kind`.

    `interrupt`: the KeyboardInterrupt that ended it, if one did.
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


def traced(tracer, printed: Printed, watched, args, kwargs, enough: Callable[[], bool]) -> Result:
    """Call what is `watched` with `tracer` set, its generator to the end, and say how it ended."""
    before, own = sys.gettrace(), sys._getframe()
    opcodes = own.f_trace_opcodes
    own.f_trace_opcodes = True  # 3.12 sends opcode events only if some frame asked before settrace
    verb, driven, changed, ended = "It returned", False, False, None
    interrupt = None
    with redirected(printed):
        sys.settrace(tracer)
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
            ended = error
        finally:
            changed = sys.gettrace() is not tracer
            sys.settrace(before)
            own.f_trace_opcodes = opcodes
    if interrupt is not None:
        note_interrupt(interrupt)
        changed = False  # CPython removes a tracer in which an exception is raised
    note_end(ended)
    return Result(words, verb, driven, changed, kind, interrupt)


def _drive(generator: GeneratorType, enough: Callable[[], bool]) -> str:
    while not enough():
        try:
            next(generator)
        except StopIteration as stop:
            return short_repr(stop.value)
    generator.close()
    return "a generator, which was then closed"
