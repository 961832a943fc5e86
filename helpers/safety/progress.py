"""What is being done, in a few words: noted for the view that shows it while a cell takes long."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_activity = ""  # replaced as a whole, so that another thread reads one or the other


def said() -> str:
    """Return what is being done now; "" if that is unknown."""
    return _activity


def say(words: str) -> None:
    """Say what is being done from now on, as "run 2 of 5"; "" for nothing in particular."""
    global _activity
    _activity = words


@contextmanager
def doing(words: str) -> Iterator[None]:
    """Say what the block does; after it, however it ends, say what was said before."""
    earlier_activity = said()
    say(words)
    try:
        yield
    finally:
        say(earlier_activity)


def counted(words: str, items: Iterable) -> Iterator:
    """Yield the items, and say before each one how far it is, such as "case 2 of 5".

    After the last one, what was said before is said again.
    """
    items = tuple(items)
    with doing(said()):
        for number, item in enumerate(items, 1):
            say(f"{words} {number} of {len(items)}")
            yield item
