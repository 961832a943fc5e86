"""What happens in a block that its frame hook cannot see: other threads, and copies of functions.

A callback of the hook is for one thread and for code objects that were there before. torch.compile
and AutoGraph run new code objects in place of those.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ...internals import torch_private
from ...model.phrase import counted
from ...safety.dynamo_aside import leave_to_python
from ...safety.restoring import module

# what `Thread.start` calls: the first on CPython 3.13 and later, else the second
STARTERS = "_start_joinable_thread", "_start_new_thread"
AUTOGRAPHS = "__autograph_generated_file"  # tensorflow/python/autograph/pyct/loader.py
DYNAMO = "torch._dynamo.eval_frame"


class Unseen:
    """What a block did that its frame hook did not see."""

    def __init__(self):
        self.threads = self.compiled_calls = self.copies = 0
        self.is_dynamo_new = False

    @contextmanager
    def noticing(self) -> Iterator[None]:
        """Count what the block does: threads, calls of compiled functions, copies by AutoGraph."""
        had_dynamo, copies = module(DYNAMO) is not None, _count_copies()
        with ExitStack() as stack:
            stack.enter_context(_hearing_starts(self._start))
            if had_dynamo:
                stack.enter_context(torch_private.compiled_calls(self._call))
            try:
                yield
            finally:
                self.copies = _count_copies() - copies
                self.is_dynamo_new = not had_dynamo and module(DYNAMO) is not None

    def _start(self) -> None:
        self.threads += 1

    def _call(self, fn) -> None:
        self.compiled_calls += 1

    def words(self) -> str:
        """Say in a sentence what was not seen; nothing if there was nothing of the kind."""
        found = []
        if self.threads:
            found.append(f"frames of {counted(self.threads, 'thread')} that it started")
        if self.compiled_calls:
            calls = counted(self.compiled_calls, "call")
            found.append(f"what torch.compile's new code runs in {calls} of compiled functions")
        if self.is_dynamo_new:
            found.append("what torch.compile's new code runs, if any, as Dynamo was imported here")
        if self.copies > 0:
            found.append("frames of copies that AutoGraph made")
        return f"Not seen: {'; '.join(found)}." if found else ""


def _count_copies() -> int:
    return sum(name.startswith(AUTOGRAPHS) for name in [*sys.modules])


@contextmanager
def _hearing_starts(heard) -> Iterator[None]:
    """Call `heard()` for each thread that is started with `threading` in the block."""
    name = next((name for name in STARTERS if hasattr(threading, name)), None)
    real = getattr(threading, name or "", None)
    if real is None:
        yield
        return

    def starting(*args, **kwargs):
        heard()
        return real(*args, **kwargs)

    leave_to_python(starting)
    setattr(threading, name, starting)
    try:
        yield
    finally:
        if getattr(threading, name) is starting:  # else the block has put another in its place
            setattr(threading, name, real)
