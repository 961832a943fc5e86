"""A call that is stopped at each of its file operations in turn, in a child; what is left then.

`stop` is what happens at the operation: the disk is full, Ctrl-C is pressed, the process is killed.
"""

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="a child is forked")
STOPS = ("full disk", "interrupt", "kill")
STOPPED, ENDED = 3, 0


def stopped_each_time(call: Callable[[], object], folder, stop: str) -> Iterator[int]:
    """Run the call in children; each is stopped one operation in the folder later than before.

    Yield the number of the operation after each, until the call came to its end.
    """
    for number in count(1):
        if in_child(call, folder, stop, number) == ENDED:
            return
        yield number


def in_child(call: Callable[[], object], folder, stop: str = "", number: int = 0) -> int:
    """Run the call in a child and return how that ended: ENDED, STOPPED, or another code."""
    child = os.fork()
    if child == 0:
        os._exit(_run(call, str(folder), stop, number))
    _, status = os.waitpid(child, 0)
    return STOPPED if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _run(call, folder: str, stop: str, number: int) -> int:
    done = 0

    def watch(event, arguments):
        nonlocal done
        if event != "open" and not event.startswith("os."):
            return
        if any(folder in os.fsdecode(path) for path in arguments if type(path) in (str, bytes)):
            done += 1
            if done == number:
                _stop(stop)

    try:
        sys.addaudithook(watch)
        call()
    except (Exception, KeyboardInterrupt):
        return STOPPED if number and done >= number else 1
    # An operation of the cleaning up may fail without a word.
    return STOPPED if number and done >= number else ENDED


def _stop(stop: str) -> None:
    if stop == "full disk":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if stop == "interrupt":
        raise KeyboardInterrupt
    os.kill(os.getpid(), signal.SIGKILL)
