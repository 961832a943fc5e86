"""What happens in a block that its frame hook cannot see: other threads, and copies of functions.

A callback of the hook is for one thread and for code objects that were there before. torch.compile
and AutoGraph run new code objects in place of those.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from ...internals import dynamo_reports
from ...model.phrase import format_count
from ...safety.dynamo_aside import leave_to_python
from ...safety.restoring import module

# What `Thread.start` calls: the first on CPython 3.13 and later, else the second.
STARTERS = "_start_joinable_thread", "_start_new_thread"
# How the names of modules begin that AutoGraph makes.
AUTOGRAPHS = "__autograph_generated_file"  # tensorflow/python/autograph/pyct/loader.py
DYNAMO = "torch._dynamo.eval_frame"


class Unseen:
    """What a block did that its frame hook did not see."""

    def __init__(self):
        """Start with nothing counted; `noticing` counts."""
        #: How many threads the block started.
        self.threads = 0
        #: How many calls of compiled functions the block made.
        self.compiled_calls = 0
        #: How many modules of copies AutoGraph made in the block.
        self.copies = 0
        #: Whether the block imported Dynamo, whose calls could not be counted then.
        self.is_dynamo_new = False

    @contextmanager
    def noticing(self) -> Iterator[None]:
        """Count what the block does: threads, calls of compiled functions, copies by AutoGraph."""
        had_dynamo = module(DYNAMO) is not None
        copies_before = _count_copies()
        with ExitStack() as stack:
            stack.enter_context(_watching_starts(self._note_start))
            if had_dynamo:
                stack.enter_context(dynamo_reports.report_compiled_functions(self._note_call))
            try:
                yield
            finally:
                self.copies = _count_copies() - copies_before
                self.is_dynamo_new = not had_dynamo and module(DYNAMO) is not None

    def _note_start(self) -> None:
        """Count a thread that is about to start."""
        self.threads += 1

    def _note_call(self, fn) -> None:
        """Count a call of the compiled function `fn`."""
        self.compiled_calls += 1

    def words(self) -> str:
        """Return the sentence on what was not seen, "" if there was nothing of the kind."""
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
    """Return how many modules of copies AutoGraph has made."""
    # A copy of the names, because another thread may import something meanwhile.
    return sum(name.startswith(AUTOGRAPHS) for name in [*sys.modules])


@contextmanager
def _watching_starts(note_start: Callable[[], None]) -> Iterator[None]:
    """Call `note_start()` for each thread that is started with `threading` in the block."""
    name = next((name for name in STARTERS if hasattr(threading, name)), None)
    if name is None:
        yield
        return
    real_start = getattr(threading, name)

    def start_thread(*args, **kwargs):
        """Stand for the function of `threading` that starts a thread."""
        note_start()
        return real_start(*args, **kwargs)

    leave_to_python(start_thread)
    setattr(threading, name, start_thread)
    try:
        yield
    finally:
        is_ours = getattr(threading, name) is start_thread
        if is_ours:  # else the block has put another in its place
            setattr(threading, name, real_start)
