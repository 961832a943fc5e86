"""Programs that go deep, each in its own way: what the hook must stand without a dead kernel."""

import functools
import sys
import threading

from helpers.mini.frame_hook import watching

LEVELS = 10**6


def plain(n):
    return 0 if n == 0 else 1 + plain(n - 1)


def sorted_keys(n):
    return n and 1 + len(sorted([n - 1], key=sorted_keys))


def delegated(n):
    if n:
        yield from delegated(n - 1)
    yield n


def exhausted(n):
    return next(delegated(n))


def shown(n):
    class Nest:
        def __init__(self, inside):
            self.inside = inside

        def __repr__(self):
            return f"<{self.inside!r}>"

    return repr(functools.reduce(lambda inside, _: Nest(inside), range(10**5), 1))


def caught(n):
    try:
        return plain(n)
    except RecursionError:
        return "caught"


def main(way: str, size: int, elsewhere: bool = False) -> None:
    """Go deep in the main thread (size 0) or in one of that stack; print how it ended.

    `elsewhere`: the hook is on in this thread, and the deep one never asked for it.
    """
    told = []

    def work():
        try:
            if elsewhere:
                globals()[way](LEVELS)
            else:
                with watching(lambda code, arguments: None):
                    globals()[way](LEVELS)
            told.append("value")
        except Exception as error:
            told.append(type(error).__name__)

    sys.setrecursionlimit(LEVELS)
    with watching(lambda code, arguments: None, only=[plain]):
        if size:
            threading.stack_size(size)
        if size or elsewhere:
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
    if not (size or elsewhere):
        work()
    print(*told)
