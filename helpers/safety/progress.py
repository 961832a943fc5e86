"""What is being done, in words -> kept, for the view that shows it while a cell takes long."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_words = [""]  # replaced as a whole, so that another thread reads one or the other


def said() -> str:
    """Return what is being done now; "" if that is unknown."""
    return _words[0]


def say(words: str) -> None:
    """Say what is being done from now on, as "run 2 of 5"; "" for nothing in particular."""
    _words[0] = words


@contextmanager
def doing(words: str) -> Iterator[None]:
    """Say what the block does; after it, however it ends, what was said before."""
    before = said()
    say(words)
    try:
        yield
    finally:
        say(before)


def counted(words: str, items: Iterable) -> Iterator:
    """Give the items, and say before each how far it is: "case 2 of 5"; afterwards nothing more."""
    items = tuple(items)
    with doing(said()):
        for number, item in enumerate(items, 1):
            say(f"{words} {number} of {len(items)}")
            yield item
