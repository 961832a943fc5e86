"""What a learner answered, in whatever form -> a plain dict or list, or why it is none."""

import ctypes
from collections.abc import Iterable, Mapping
from itertools import islice

from helpers.capture.text.value import brief
from helpers.study.check import Unfit, Untried


def by_name(answer, names: Iterable[str], what: str = "the guess") -> dict:
    """Return an answer that has a value for each name: a dict, or any other mapping.

    Unfit if it is none, or its keys are others; Untried, with their names, where values are `...`.
    """
    names = list(names)
    if not issubclass(type(answer), Mapping):
        raise Unfit(f"{what} must be a dict with the keys {', '.join(names)}, not {brief(answer)}")
    given = dict(islice(answer.items(), len(names) + 1))
    missing = [name for name in names if name not in given]
    extra = [brief(name) for name in given if name not in names]
    if missing or extra:
        why = f"{missing[0]!r} is missing" if missing else f"{extra[0]} is none of them"
        raise Unfit(f"{what} must be a dict with the keys {', '.join(names)}; {why}")
    parts_tried(given)
    return {name: plain_text(given[name]) for name in names}


def plain_text(value):
    """Return a text of any kind, such as numpy's or an enum's, as a plain str; all else as is."""
    return str.__str__(value) if issubclass(type(value), str) else value


def parts_tried(given: Mapping) -> None:
    """Raise Untried, with the names of the parts, where some of them still are `...`."""
    left = [str(name) for name, value in given.items() if value is ...]
    if left:
        raise Untried(", ".join(left) if len(left) < len(given) else "")


def in_order(answer, most: int, what: str = "the answer") -> list:
    """Return the items of a list, tuple, array, tensor, generator or whatever else has some.

    Unfit if it has none to give, is a text or a mapping, or has more than `most`. A pointer of
    ctypes has none, either: to read on from an address would end the kernel.
    """
    if issubclass(type(answer), (str, bytes, Mapping, ctypes._Pointer)):
        raise Unfit(f"{what} must be a list, not {brief(answer)}")
    try:
        items = list(islice(iter(answer), most + 1))
    except TypeError:
        raise Unfit(f"{what} must be a list, not {brief(answer)}") from None
    if len(items) > most:
        raise Unfit(f"{what} has more than {most:,} items, which is more than there can be here")
    return items
