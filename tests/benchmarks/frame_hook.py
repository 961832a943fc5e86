"""What the frame hook costs, in bare calls."""

import threading

from helpers.mini.frame_hook import watching
from tests.benchmarks.harness import Goal, prepared

CALLS = 40_000


def goals():
    yield Goal("a hook in another thread", passing_through, "bare calls", calls, at_most=3)
    # The measure can fail: it tells apart no hook, a hook in C, and what runs Python for each call.
    yield Goal("a filter that misses", miss, "bare calls", calls, at_least=1, at_most=5)
    yield Goal("a callback in Python", hit, "a filter that misses", miss, at_least=1)
    yield Goal("a callback in Python", hit, "bare calls", calls)


def called(x):
    return x


def other(x):
    return x


def calls():
    fn = called
    for _ in range(CALLS):
        fn(1)


def nothing(code, arguments):
    return None


def miss():
    with watching(nothing, only=[other]):
        calls()


def hit():
    with watching(nothing, only=[called]):
        calls()


@prepared
def passing_through():
    """Switch a hook on in another thread: here, frames only pass through the evaluator."""
    ready, done = threading.Event(), threading.Event()

    def hold():
        with watching(nothing, only=[other]):
            ready.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    ready.wait()
    try:
        yield calls
    finally:
        done.set()
        thread.join()
