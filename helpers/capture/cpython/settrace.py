"""Call a function under a tracer, as set by `sys.settrace`, and restore everything afterwards.
A *verb* is a public function of this package, such as `watch_frames`, that runs the user's program.
If the program raises, the verb first shows what it has recorded, and then raises the same error.
"""

import io
import sys
from collections.abc import Callable, Mapping
from types import CoroutineType, GeneratorType
from typing import NamedTuple

from ...internals.frame_tracer import FrameTracer
from ...model.phrase import describe_interruption, end_sentence
from ...safety.arguments import real_type_name
from ...safety.dynamo_aside import leave_to_python
from ...safety.restoring import note_interrupt, raise_after_verb
from ...safety.standard_output import redirect_prints
from ..text.error import describe_error
from ..text.value import short_repr
from .aside import HOOK_NAMES_ON_FRAMES, describe_replaced_hooks, describe_visible_hooks

MOST_PRINTED, TAIL = 20_000, 1000  # characters
# A tracer is lost, that is, not called any more, if the program sets another one, or if the tracer
# itself raises an error.
TRACER_LOST = "The tracer was lost (sys.settrace, or Ctrl-C inside it)"
STACK_FULL = "The tracer was lost (the stack was full)"
INTERRUPTED = "interrupted"


def run_to_end(run: Callable) -> str:
    """Call `run()`, which runs the user's code, and return how it ended.

    Return "" if it raised nothing, `INTERRUPTED` after Ctrl-C, and a description of the error
    otherwise. The error is not raised here. `raise_after_verb` and `note_interrupt` make the
    verb that is running raise it at its end.
    """
    try:
        run()
    except KeyboardInterrupt as error:
        note_interrupt(error)
        return INTERRUPTED
    except BaseException as error:
        raise_after_verb(error)
        return describe_error(error)
    return ""


class Printed(io.StringIO):
    """A text stream for what a program prints; it keeps the first and the last characters.

    These are the first `MOST_PRINTED` and the last `TAIL` characters.
    """

    def __init__(self):
        """Start with nothing printed."""
        super().__init__()
        #: How many characters are kept from the start.
        self.size = 0
        #: How many characters were printed.
        self.total = 0
        #: The last characters that were printed.
        self.tail = ""
        leave_to_python(Printed.write)  # Dynamo must not compile it

    def write(self, text: str) -> int:
        """Add what the program prints. Return the number of its characters, as a stream does."""
        room = max(MOST_PRINTED - self.size, 0)
        self.size += super().write(text[:room])
        self.tail = (self.tail + text[-TAIL:])[-TAIL:]
        self.total += len(text)
        return len(text)

    @property
    def note(self) -> str:
        """The sentence that only the first characters are kept; "" if all are."""
        if self.total == self.size:
            return ""
        return f"Only the first {MOST_PRINTED:,} characters that it printed are kept."

    def text(self, size: int | None = None) -> str:
        """Return the first `size` characters that were printed, or all that are kept."""
        return self.getvalue()[:size]


class Result(NamedTuple):
    """How a call ended."""

    #: The returned value or the exception, as text.
    words: str
    #: What the call did: the start of a sentence, such as "It returned" or "It raised".
    verb: str
    #: Whether the call returned the function's generator, which was then run to its end.
    is_generator_run: bool
    #: Why the tracer was not called any more, as a clause; "" if it was called to the end.
    lost: str
    #: The name of the type of the value or the exception.
    kind: str
    #: The KeyboardInterrupt that ended the call, None if none did.
    interrupt: KeyboardInterrupt | None = None
    #: The sentences on how the verb's tracer disturbed the program; "" if it did not.
    aside: str = ""

    @property
    def raised(self) -> bool:
        """Whether the call raised an exception."""
        return self.verb == "It raised"

    def sentence(self, number: int, noun: str) -> str:
        """Return the sentence on how the call ended, such as "It returned 3."

        After Ctrl-C, the sentence says how much was recorded: `number` is how many things, and
        `noun` is what each is called, such as "step".
        """
        if self.interrupt is not None:
            return describe_interruption(number, noun)
        return end_sentence(f"{self.verb} {self.words}")

    def raise_interrupt_if_empty(self, number: int) -> None:
        """Raise the KeyboardInterrupt of the call if nothing was recorded before it.

        `number` is how many things were recorded. With 0 there is nothing to show.
        """
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
    """Call a function under a tracer, and return how the call ended.

    If the function is a generator function, the generator that it returns is run to its end. What
    the function raises is not raised here. The verb raises it at its end.

    Parameters
    ----------
    tracer : Callable
        Called as `tracer(frame, event, argument)` for each frame that begins. It raises `Enough` to
        end the tracing.
    printed : Printed
        The stream to which the program prints during the call.
    watched : Unwrapped
        `watched.call` is called. `watched.function` is the Python function that it leads to.
    args, kwargs
        The arguments of the call.
    enough : Callable
        `enough()` returns whether the record is full, so that a generator need not be run further.
    """
    # Python 3.12 sends events for single instructions only if some frame has asked for them before
    # `sys.settrace`. `sys._getframe()` is not stored in a variable: this frame would then be in a
    # reference cycle, which would keep the arguments and the result alive.
    opcodes_before = sys._getframe().f_trace_opcodes
    sys._getframe().f_trace_opcodes = True
    frame_tracer = FrameTracer(tracer)
    code = watched.function.__code__
    verb = "It returned"
    is_generator_run = False
    was_traced_to_the_end = True
    error_raised = None
    interrupt = None
    with redirect_prints(printed):
        frame_tracer.start()
        try:
            value = watched.call(*args, **kwargs)
            type_name = real_type_name(value)
            # A generator of another function, which this one only passes on, is not run.
            is_generator_run = type(value) is GeneratorType and value.gi_code is code
            value_text = _run_generator(value, enough) if is_generator_run else short_repr(value)
            if type(value) is CoroutineType:
                value.close()  # otherwise Python warns that it was never awaited
        except KeyboardInterrupt as error:
            value_text = ""
            type_name = real_type_name(error)
            verb = "It raised"
            interrupt = error
        except BaseException as error:
            value_text = short_repr(error)
            type_name = real_type_name(error)
            verb = "It raised"
            error_raised = error
        finally:
            if frame_tracer.is_ours():  # otherwise the program has set a tracer, which stays
                frame_tracer.put_back()
            was_traced_to_the_end = frame_tracer.finish()
            sys._getframe().f_trace_opcodes = opcodes_before
    if interrupt is not None:
        note_interrupt(interrupt)
    raise_after_verb(error_raised)

    hook_sentences = (
        describe_replaced_hooks(frame_tracer),
        describe_visible_hooks(code, HOOK_NAMES_ON_FRAMES),
    )
    aside = " ".join(filter(None, hook_sentences))
    loss = ""
    # After Ctrl-C the tracing ends too, but `Result.sentence` says that already.
    if not was_traced_to_the_end and interrupt is None:
        loss = _describe_loss(frame_tracer.error)
    try:
        return Result(value_text, verb, is_generator_run, loss, type_name, interrupt, aside)
    finally:
        # The traceback of an exception refers to this frame, so a variable of this frame that
        # refers to the exception would be a reference cycle.
        error_raised = interrupt = None


def _describe_loss(error: BaseException | None) -> str:
    """Return why the tracer was not called any more, as a clause.

    `error` is the error that the tracer itself raised, None if it raised none.
    """
    if isinstance(error, RecursionError):
        return STACK_FULL
    if error is None or isinstance(error, KeyboardInterrupt):  # the program set another tracer,
        return TRACER_LOST  # or Ctrl-C came while the tracer ran
    return f"The tracer was lost ({describe_error(error)})"


def _run_generator(generator: GeneratorType, enough: Callable[[], bool]) -> str:
    """Run a generator to its end, and return as text the value that it returned.

    If `enough()` is true before the end, the generator is closed, and the text says so.
    """
    while not enough():
        try:
            next(generator)
        except StopIteration as stop:
            return short_repr(stop.value)
    generator.close()
    return "a generator, which was then closed"
