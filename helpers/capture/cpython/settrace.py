"""A tracer and a call -> the call made under it, and everything restored afterwards."""

import io
import sys
from collections.abc import Callable, Mapping
from types import CoroutineType, GeneratorType
from typing import NamedTuple

from ...internals.frame_tracer import FrameTracer
from ...model.phrase import describe_interruption, end_sentence
from ...safety.arguments import real_type_name
from ...safety.dynamo_aside import leave_to_python
from ...safety.restoring import note_end, note_interrupt
from ...safety.standard_output import redirected
from ..text.error import describe_error
from ..text.value import short_repr
from .aside import OF_FRAMES, describe_findings, describe_hooks_aside

MOST_PRINTED, TAIL = 20_000, 1000  # characters
# A tracer is lost if the program sets another one, or if it raises an error itself.
TRACER_LOST = "The tracer was lost (sys.settrace, or Ctrl-C inside it)"
STACK_FULL = "The tracer was lost (the stack was full)"
INTERRUPTED = "interrupted"


def run_to_end(run: Callable) -> str:
    """Call `run()`, which runs the learner's code, and return how it ended.

    Return "" if it raised nothing, `INTERRUPTED` after Ctrl-C, and the error in words otherwise.
    The verb under way raises the error again when it has drawn its picture (`note_end`).
    """
    try:
        run()
    except KeyboardInterrupt as error:
        note_interrupt(error)
        return INTERRUPTED
    except BaseException as error:
        note_end(error)
        return describe_error(error)
    return ""


class Printed(io.StringIO):
    """What a program prints: its first `MOST_PRINTED` characters and its last `TAIL`."""

    def __init__(self):
        """Start with nothing printed."""
        super().__init__()
        #: How many of the first characters are kept, and how many were printed.
        self.size = 0
        self.total = 0
        #: The last characters.
        self.tail = ""
        leave_to_python(Printed.write)

    def write(self, text: str) -> int:
        """Keep the text as far as there is room."""
        room = max(MOST_PRINTED - self.size, 0)
        self.size += super().write(text[:room])
        self.tail = (self.tail + text[-TAIL:])[-TAIL:]
        self.total += len(text)
        return len(text)

    @property
    def note(self) -> str:
        """The sentence that not all is kept, "" where all is."""
        if self.total == self.size:
            return ""
        return f"Only the first {MOST_PRINTED:,} characters that it printed are kept."

    def text(self, size: int | None = None) -> str:
        """Return what was printed, or its first `size` characters."""
        return self.getvalue()[:size]


class Result(NamedTuple):
    """How a call ended."""

    #: The value or the exception as words.
    words: str
    #: What happened, such as "It returned" or "It raised".
    verb: str
    #: Whether the call made a generator, which was then run to its end.
    driven: bool
    #: How the tracer was lost, "" if it was not.
    lost: str
    #: The name of the type of the value or the exception.
    kind: str
    #: The Ctrl-C that ended the call, if one did.
    interrupt: KeyboardInterrupt | None = None
    #: The sentences on the tracers of the program and of the verb.
    aside: str = ""

    @property
    def raised(self) -> bool:
        """Whether it ended by an exception."""
        return self.verb == "It raised"

    def sentence(self, number: int, noun: str) -> str:
        """Return the sentence on how the call ended, such as "It returned 3."

        After Ctrl-C it says how much was recorded: a `number` of things that `noun` names, such as
        "step".
        """
        if self.interrupt is not None:
            return describe_interruption(number, noun)
        return end_sentence(f"{self.verb} {self.words}")

    def require_record(self, number: int) -> None:
        """Raise the interrupt if it came before anything was recorded: there is no picture."""
        if self.interrupt is not None and not number:
            raise self.interrupt


def call_traced(
    tracer: Callable,
    printed: Printed,
    watched,
    args: tuple,
    kwargs: Mapping,
    enough: Callable[[], bool],
) -> Result:
    """Make a call under a tracer, and return how the call ended.

    If the function is a generator function, the generator that it returns is run to its end.

    Parameters
    ----------
    tracer : Callable
        Called as `tracer(frame, event, argument)` for each frame that begins; it raises `Enough`
        when it wants to see nothing more.
    printed : Printed
        Gets what the program prints.
    watched : Unwrapped
        The function, and what to call for it.
    args, kwargs
        The arguments of the call.
    enough : Callable
        `enough()` returns whether a generator need not be run further.
    """
    # Python 3.12 sends opcode events only if some frame asked before settrace. No variable refers
    # to this frame: it would be in a cycle, and keep the arguments and the result alive.
    opcodes_before = sys._getframe().f_trace_opcodes
    sys._getframe().f_trace_opcodes = True
    frame_tracer = FrameTracer(tracer)
    code = watched.function.__code__
    verb = "It returned"
    driven = False
    is_untouched = True
    error_raised = None
    interrupt = None
    with redirected(printed):
        frame_tracer.start()
        try:
            value = watched.call(*args, **kwargs)
            kind = real_type_name(value)
            # Only the function's own generator: one that it was given belongs to somebody else.
            driven = type(value) is GeneratorType and value.gi_code is code
            words = _run_generator(value, enough) if driven else short_repr(value)
            if type(value) is CoroutineType:
                value.close()  # else Python warns that it was never awaited
        except KeyboardInterrupt as error:
            words = ""
            kind = real_type_name(error)
            verb = "It raised"
            interrupt = error
        except BaseException as error:
            words = short_repr(error)
            kind = real_type_name(error)
            verb = "It raised"
            error_raised = error
        finally:
            if frame_tracer.is_ours():  # else the program has set a tracer, which stays
                frame_tracer.put_back()
            is_untouched = frame_tracer.finish()
            sys._getframe().f_trace_opcodes = opcodes_before
    # The verb under way raises what the call raised, after it has drawn the picture.
    if interrupt is not None:
        note_interrupt(interrupt)
    note_end(error_raised)

    aside = " ".join(
        filter(None, (describe_hooks_aside(frame_tracer), describe_findings(code, OF_FRAMES)))
    )
    lost = ""
    if not is_untouched and interrupt is None:  # Ctrl-C ends the tracing, and is told by itself
        lost = _describe_loss(frame_tracer.error)
    try:
        return Result(words, verb, driven, lost, kind, interrupt, aside)
    finally:
        error_raised = interrupt = None  # their tracebacks refer to this frame: a cycle


def _describe_loss(error: BaseException | None) -> str:
    """Return the words for how the tracer was lost; `error` is what it raised, None for nothing."""
    if isinstance(error, RecursionError):
        return STACK_FULL
    if error is None or isinstance(error, KeyboardInterrupt):
        return TRACER_LOST
    return f"The tracer was lost ({describe_error(error)})"


def _run_generator(generator: GeneratorType, enough: Callable[[], bool]) -> str:
    """Run a generator until it ends, or until it is `enough`; return its result as words."""
    while not enough():
        try:
            next(generator)
        except StopIteration as stop:
            return short_repr(stop.value)
    generator.close()
    return "a generator, which was then closed"
