"""A tracer and a call -> the call made under it, and everything restored afterwards."""

import io
import sys
from collections import namedtuple
from collections.abc import Callable
from types import CoroutineType, GeneratorType

from ...model.phrase import ended
from ...safety.arguments import real_type_name
from ...safety.restoring import note_end, redirected, running_user_code
from ..text.error import error_message
from ..text.value import short_repr

MOST_PRINTED, TAIL = 20_000, 1000  # characters
UNRAISABLE = (KeyboardInterrupt,)  # the learner's own: it must reach the notebook
TRACER_LOST = "The tracer was lost (sys.settrace, or Ctrl-C inside it)"


def run_to_end(run: Callable) -> str:
    """Run what is the learner's; return the words of what it raised. An interrupt passes."""
    try:
        with running_user_code():
            run()
    except UNRAISABLE:
        raise
    except BaseException as error:
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


class Result(namedtuple("Result", "words verb driven tracer_changed kind")):
    """How a call ended: the value or exception in `words`, its type in `kind`."""

    @property
    def raised(self) -> bool:
        """Whether it ended by an exception."""
        return self.verb == "It raised"

    @property
    def sentence(self) -> str:
        """Return the end as words."""
        return ended(f"{self.verb} {self.words}")


def traced(tracer, printed: Printed, watched, args, kwargs, enough: Callable[[], bool]) -> Result:
    """Call what is `watched` with `tracer` set, its generator to the end, and say how it ended."""
    before, own = sys.gettrace(), sys._getframe()
    opcodes = own.f_trace_opcodes
    own.f_trace_opcodes = True  # 3.12 sends opcode events only if some frame asked before settrace
    verb, driven, changed, ended = "It returned", False, False, None
    with redirected(printed):
        sys.settrace(tracer)
        try:
            value = watched.call(*args, **kwargs)
            kind, code = real_type_name(value), watched.function.__code__
            driven = type(value) is GeneratorType and value.gi_code is code
            words = _drive(value, enough) if driven else short_repr(value)
            if type(value) is CoroutineType:
                value.close()
        except UNRAISABLE:
            raise
        except BaseException as error:
            words, kind, verb = short_repr(error), real_type_name(error), "It raised"
            ended = error
        finally:
            changed = sys.gettrace() is not tracer
            sys.settrace(before)
            own.f_trace_opcodes = opcodes
    note_end(ended)
    return Result(words, verb, driven, changed, kind)


def _drive(generator: GeneratorType, enough: Callable[[], bool]) -> str:
    while not enough():
        try:
            next(generator)
        except StopIteration as stop:
            return short_repr(stop.value)
    generator.close()
    return "a generator, which was then closed"
