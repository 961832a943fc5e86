"""Store what a verb is doing at the moment, such as "run 2 of 5", for a line of progress.

While a cell takes long, a widget (view/widgets/progress_line.py) shows that text.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_activity = ""  # the widget's thread reads it while another thread sets it


def said() -> str:
    """Return the text on what is being done now; "" if there is none."""
    return _activity


def say(words: str) -> None:
    """Set the text on what is being done from now on, such as "run 2 of 5"; "" for none."""
    global _activity
    _activity = words


@contextmanager
def doing(words: str) -> Iterator[None]:
    """Set the text for a `with` block, and the earlier text again after it, however it ends."""
    earlier_activity = said()
    say(words)
    try:
        yield
    finally:
        say(earlier_activity)


def counted(words: str, items: Iterable) -> Iterator:
    """Yield the items, and set a text before each one, such as "case 2 of 5" for `words="case"`.

    After the last item the earlier text is set again.
    """
    items = tuple(items)  # counted before the first one is yielded
    with doing(said()):
        for number, item in enumerate(items, 1):
            say(f"{words} {number} of {len(items)}")
            yield item
