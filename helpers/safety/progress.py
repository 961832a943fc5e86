"""Store what a verb is doing at the moment, such as "run 2 of 5", for a line of progress.

While a cell takes long, a widget (view/widgets/progress_line.py) shows that text.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_activity = ""  # the widget's thread reads it while another thread sets it


def read_activity() -> str:
    """Return the text on what is being done now; "" if there is none."""
    return _activity


def set_activity(words: str) -> None:
    """Set the text on what is being done from now on, such as "run 2 of 5"; "" for none."""
    global _activity
    _activity = words


@contextmanager
def report_activity(words: str) -> Iterator[None]:
    """Set the text for a `with` block, and the earlier text again after it, however it ends."""
    earlier_activity = read_activity()
    set_activity(words)
    try:
        yield
    finally:
        set_activity(earlier_activity)


def report_each(words: str, items: Iterable) -> Iterator:
    """Yield the items, and set a text before each one, such as "case 2 of 5" for `words="case"`.

    After the last item the earlier text is set again.
    """
    items = tuple(items)  # counted before the first one is yielded
    with report_activity(read_activity()):
        for number, item in enumerate(items, 1):
            set_activity(f"{words} {number} of {len(items)}")
            yield item
