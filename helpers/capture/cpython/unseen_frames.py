"""Count what a frame hook cannot see in a `with` block: other threads, and copies of functions.
The frame hook (PEP 523) is called for each frame of one thread that runs one of the code objects
chosen before. torch.compile and AutoGraph make new code objects, and run these in place of the old.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from ...internals import dynamo_reports
from ...model.phrase import format_count
from ...safety.dynamo_aside import leave_to_python
from ...safety.restoring import find_loaded_module

# The function of `threading` that `Thread.start` calls. CPython 3.13 and later have the first.
STARTERS = "_start_joinable_thread", "_start_new_thread"
# AutoGraph makes a module for each copy of a function. The names of these modules begin so.
AUTOGRAPHS = "__autograph_generated_file"  # tensorflow/python/autograph/pyct/loader.py
DYNAMO = "torch._dynamo.eval_frame"


class UnseenFrames:
    """Counts what the code in a block did that the frame hook did not see."""

    def __init__(self):
        """Start with nothing counted; `counting` counts."""
        #: How many threads the block started.
        self.threads = 0
        #: How many calls of compiled functions the block made.
        self.compiled_calls = 0
        #: How many modules of copies AutoGraph made in the block.
        self.copies = 0
        #: Whether the block imported Dynamo. Its calls could not be counted, because the report of
        #: compiled calls is switched on at the start of the block.
        self.is_dynamo_new = False

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count threads, calls of compiled functions, and copies by AutoGraph in a `with` block."""
        had_dynamo = find_loaded_module(DYNAMO) is not None
        copies_before = _count_copies()
        with ExitStack() as stack:
            stack.enter_context(_watching_starts(self._note_start))
            if had_dynamo:
                stack.enter_context(dynamo_reports.report_compiled_functions(self._note_call))
            try:
                yield
            finally:
                self.copies = _count_copies() - copies_before
                self.is_dynamo_new = not had_dynamo and find_loaded_module(DYNAMO) is not None

    def _note_start(self) -> None:
        """Count a thread that is about to start."""
        self.threads += 1

    def _note_call(self, fn) -> None:
        """Count a call of the compiled function `fn`."""
        self.compiled_calls += 1

    def describe(self) -> str:
        """Return the sentence on what the hook did not see; "" if there was nothing of the kind."""
        phrases = []
        if self.threads:
            phrases.append(f"frames of {format_count(self.threads, 'thread')} that it started")
        if self.compiled_calls:
            calls = format_count(self.compiled_calls, "call")
            phrases.append(f"what torch.compile's new code runs in {calls} of compiled functions")
        if self.is_dynamo_new:
            phrases.append(
                "what torch.compile's new code runs, if any, as Dynamo was imported here"
            )
        if self.copies > 0:
            phrases.append("frames of copies that AutoGraph made")
        return f"Not seen: {'; '.join(phrases)}." if phrases else ""


def _count_copies() -> int:
    """Return how many modules AutoGraph has made for copies of functions."""
    # The names are copied to a list, because another thread may import something meanwhile.
    module_names = list(sys.modules)
    return sum(name.startswith(AUTOGRAPHS) for name in module_names)


@contextmanager
def _watching_starts(note_start: Callable[[], None]) -> Iterator[None]:
    """Call `note_start()` for each thread that is started with `threading` in a `with` block.

    In the block, the function of `threading` that starts a thread is replaced. If this Python has
    none of the functions in `STARTERS`, no thread is noticed.
    """
    name = next((name for name in STARTERS if hasattr(threading, name)), None)
    if name is None:
        yield
        return
    real_start = getattr(threading, name)

    def start_thread(*args, **kwargs):
        """Note the start of a thread, then start it."""
        note_start()
        return real_start(*args, **kwargs)

    leave_to_python(start_thread)
    setattr(threading, name, start_thread)
    try:
        yield
    finally:
        is_still_replaced = getattr(threading, name) is start_thread
        if is_still_replaced:  # otherwise the program has set a function of its own, which stays
            setattr(threading, name, real_start)
