"""Programs that go deep, each in its own way: what the hook must stand without a dead kernel."""

import sys
import threading

from helpers.mini.frame_hook import watching

LEVELS = 10**6


def plain(n):
    return 0 if n == 0 else 1 + plain(n - 1)


def delegated(n):
    if n:
        yield from delegated(n - 1)
    yield n


def exhausted(n):
    return next(delegated(n))


def caught(n):
    try:
        return plain(n)
    except RecursionError:
        return "caught"


def main(way: str, size: int) -> None:
    """Go deep in the main thread (size 0) or in one of that stack; print how it ended."""
    told = []

    def work():
        try:
            with watching(lambda code, arguments: None):
                globals()[way](LEVELS)
            told.append("value")
        except Exception as error:
            told.append(type(error).__name__)

    sys.setrecursionlimit(LEVELS)
    if size:
        threading.stack_size(size)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    else:
        work()
    print(*told)
